"""The colours of the page, in light and dark."""

LIGHT = {
    "page": "#f7f8f9",
    "card": "#ffffff",
    "raised": "#f1f4f7",
    "ink": "#181c20",
    "quiet": "#57606a",
    "line": "#d8dde2",
    "track": "#e6eaee",
    "strong": "#005fa3",
    "on-strong": "#ffffff",
    "bad": "#a3273a",
}
DARK = {
    "page": "#121518",
    "card": "#1b1f23",
    "raised": "#24292f",
    "ink": "#e8eaed",
    "quiet": "#a8b1ba",
    "line": "#363d45",
    "track": "#30363d",
    "strong": "#6ab7f5",
    "on-strong": "#0d1116",
    "bad": "#ff8f9c",
}

FAMILIES_LIGHT = (
    "#005fa3", "#b34700", "#00735a", "#94388a", "#7a5c00", "#3d4fc4", "#a3273a", "#57606a",
)  # fmt: skip
FAMILIES_DARK = (
    "#6ab7f5", "#f2a65a", "#3ecfa5", "#e49add", "#e6cf5c", "#a9b4ff", "#ff8f9c", "#b0b9c2",
)  # fmt: skip
"""Colours of families, with a contrast of at least 4.5; small families share the last."""


def colour_css() -> str:
    """Return the colours as variables, for the scheme of the system or the reader's choice."""
    light, dark = _variables(LIGHT, FAMILIES_LIGHT), _variables(DARK, FAMILIES_DARK)
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        "@media screen and (prefers-color-scheme: dark) { "
        f":root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}\n"
        f"@media screen {{ :root[data-theme=dark] {{ color-scheme: dark; {dark} }} }}\n"
    )


def _variables(colours: dict[str, str], families: tuple[str, ...]) -> str:
    named = [*colours.items(), *((f"hue-{i}", each) for i, each in enumerate(families))]
    return " ".join(f"--{name}: {colour};" for name, colour in named)
