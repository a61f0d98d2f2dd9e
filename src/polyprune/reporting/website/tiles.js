// How large and how fast, beside what it was.
const TILES = [
  ["parameters", "Parameters", (value) => millions(value)],
  ["layer_parameters", "of them in the layers", (value) => millions(value)],
  [
    "bytes",
    "On disk",
    (value) => (known(value) ? `${(value / 1e6).toFixed(0)}${SPACE}MB` : NOTHING),
  ],
  ["multiply_adds", "Multiply–adds", (value) => spaced(value)],
  ["sentences_per_second", "Sentences per second", (value) => spaced(value)],
  ["gpu_sentences_per_second", "Sentences per second, GPU", (value) => spaced(value)],
];

function drawTiles(step, dense) {
  const place = byId("tiles");
  const comparing = dense !== null && step !== dense;
  const tiles = TILES.map(([field, title, form]) => {
    const [was, is] = [comparing ? sizeOf(dense, field) : null, sizeOf(step, field)];
    return known(is)
      ? tile(title, form(is), known(was) ? `uncut ${form(was)}` : "", known(was) ? is / was : null)
      : null;
  });
  place.replaceChildren(...[fasterTile(step, dense), ...tiles].filter(Boolean));
  place.hidden = !place.children.length;
}

function fasterTile(step, dense) {
  const [times, low, high] = ["faster", "low", "high"].map((field) => sizeOf(step, field));
  if (!known(times) || step === dense) return null;
  const interval =
    known(low) && known(high)
      ? `${fixed(low, 2)}–${fixed(high, 2)} (95${SPACE}%)`
      : "no interval known";
  return tile("As fast as uncut", `${fixed(times, 2)}×`, interval, null);
}

function tile(title, value, aside, share) {
  const bar = known(share)
    ? html(
        "span",
        { class: "bar", "aria-hidden": "true" },
        html("i", { style: { width: `${Math.min(100, 100 * share)}%` } }),
      )
    : null;
  return html(
    "li",
    {},
    html("span", { text: title }),
    html("b", { text: value }),
    aside ? html("small", { text: aside }) : null,
    share !== null && share <= 1 ? bar : null,
  );
}
