"""How the page looks: light and dark, on a phone and on paper."""

FAMILIES = 8
"""Colours that there are; after those they begin again, and names tell families apart."""

LIGHT = ("#005fa3", "#b34700", "#00735a", "#94388a", "#7a5c00", "#3d4fc4", "#a3273a", "#4a5560")
DARK = ("#6ab7f5", "#f2a65a", "#3ecfa5", "#e49add", "#e6cf5c", "#a9b4ff", "#ff8f9c", "#b8c2cc")
"""At least 4.5 to 1 against the page; neighbours differ in lightness and in hue."""


def _colours(colours: tuple[str, ...]) -> str:
    return "".join(f"--family-{i}: {colour}; " for i, colour in enumerate(colours))


CSS = (
    f"""
:root {{ color-scheme: light dark; --page: #fdfdfc; --card: #ffffff; --ink: #1b1f23;
  --quiet: #57606a; --line: #d5d9dd; --track: #e9ecef; --strong: #005fa3; {_colours(LIGHT)}}}
@media (prefers-color-scheme: dark) {{
:root {{ --page: #14171a; --card: #1c2024; --ink: #e8eaed; --quiet: #a3acb5; --line: #373d44;
  --track: #2b3036; --strong: #6ab7f5; {_colours(DARK)}}} }}
"""
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 1rem 0 .75rem; }
h2 { font-size: 1.25rem; margin: 0 0 .25rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .25rem 0 1rem; }
.summary { font-size: 1.1rem; max-width: 44rem; }
.quiet, figcaption { color: var(--quiet); font-size: .9rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.1rem 1.1rem .9rem; margin: 1.25rem 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem;
  margin: 1.25rem 0; padding: 0; list-style: none; }
.facts li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .7rem .9rem; }
.facts b { display: block; font-size: 1.35rem; line-height: 1.3; color: var(--strong); }
.facts span { color: var(--quiet); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .55rem; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: middle; }
th:first-child, td:first-child { text-align: left; }
thead th { color: var(--quiet); font-weight: 600; font-size: .9rem; vertical-align: bottom; }
tbody th { font-weight: 500; }
tr:last-child > * { border-bottom: 0; }
figure { margin: .5rem 0 0; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .25rem 0 .75rem; padding: 0;
  list-style: none; font-size: .9rem; }
.legend li { display: flex; align-items: center; gap: .45rem; }
.legend .mark { position: static; transform: none; color: var(--quiet); }
.swatch { width: .8rem; height: .8rem; border-radius: .2rem; background: currentColor; }
.dots { list-style: none; margin: 0; padding: 0; }
.dots li { display: grid; grid-template-columns: 9.5rem 1fr 10.5rem; gap: 0 .9rem;
  align-items: center; padding: .22rem 0; }
.dots .name small { display: block; color: var(--quiet); font-size: .75rem; line-height: 1.15; }
.dots .name { line-height: 1.2; }
.dots .numbers { text-align: right; font-variant-numeric: tabular-nums; font-size: .9rem;
  white-space: nowrap; }
.track { position: relative; height: 1.3rem; margin: 0 .5rem; }
.track::before { content: ""; position: absolute; left: -.5rem; right: -.5rem; top: 50%;
  height: 2px; margin-top: -1px; background: var(--track); }
.track .span { position: absolute; top: 50%; height: 4px; margin-top: -2px; opacity: .5;
  background: currentColor; }
.mark { position: absolute; top: 50%; width: .85rem; height: .85rem;
  transform: translate(-50%, -50%); border: 2.5px solid currentColor; border-radius: 50%; }
.mark.dense { background: var(--card); }
.mark.pruned { border-radius: 0; width: .65rem; height: .65rem; background: var(--card);
  transform: translate(-50%, -50%) rotate(45deg); }
.legend .mark.pruned { transform: rotate(45deg); }
.mark.recovered { background: currentColor; }
.axis { position: relative; height: 1.2rem; margin: 0 .5rem; color: var(--quiet);
  font-size: .75rem; }
.axis span { position: absolute; transform: translateX(-50%); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; }
svg { display: block; width: 100%; max-width: 25rem; height: auto; font-size: 12px; }
svg text { fill: var(--quiet); } svg .value { fill: var(--ink); font-weight: 600; }
svg .grid { stroke: var(--track); } svg .curve { fill: none; stroke: var(--strong);
  stroke-width: 2; } svg .dot { fill: var(--card); stroke: var(--strong); stroke-width: 2.5; }
svg .gain { stroke: var(--strong); stroke-width: 2; stroke-dasharray: 3 3; }
svg .full { fill: var(--strong); }
.share { display: flex; align-items: center; gap: .6rem; }
.bar { flex: 1; height: .7rem; background: var(--track); border-radius: .2rem; overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--strong); }
.layers :is(th, td) { text-align: left; white-space: nowrap; }
.layers td { width: 46%; }
.layers .count { width: 6.2rem; text-align: right; font-size: .85rem; }
pre { background: var(--track); padding: .7rem .9rem; border-radius: .4rem; overflow-x: auto;
  font-size: .9rem; }
details { margin: .5rem 0; } summary { cursor: pointer; padding: .2rem 0; }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 36rem) {
  section { padding: .9rem .8rem .7rem; }
  .dots li { grid-template-columns: 1fr auto; padding: .3rem 0; }
  .dots .track, .dots .axis { grid-column: 1 / -1; grid-row: 2; }
  .dots .name small { display: inline; margin-left: .35rem; }
  th, td { padding: .3rem .2rem; font-size: .85rem; }
  .share { display: block; } .layers .count { font-size: .8rem; }
  .bar { display: block; }
}
@media print { section { break-inside: avoid; } }
"""
)
