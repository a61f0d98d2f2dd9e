// What is looked at is in the address, so that others can be sent it; then everything begins.
const writeAddress = debounced(() => {
  const all = state.chosen.size === languages.length;
  const codes = [...state.chosen].sort((a, b) => a - b).map((index) => languages[index].code);
  const view = new URLSearchParams({
    system: state.line.name,
    cut: String(state.line.steps[state.step].sparsity ?? ""),
    ...(state.measure ? { task: state.measure.key } : {}),
    ...(all ? {} : { languages: codes.join(" ") }),
  });
  // Some browsers do not let a file change its address; then there is none to send.
  try {
    history.replaceState(null, "", `#${view}`);
  } catch {
    // The page works without.
  }
}, 200);

let untouched = true;

// Not before somebody changed something: an address without a view stays as it was given.
function keepAddress() {
  if (!untouched) writeAddress();
  untouched = false;
}

function readAddress() {
  const text = location.hash.slice(1);
  if (!text.includes("=")) return false;
  const view = new URLSearchParams(text);
  const line = lines.find((each) => each.name === view.get("system"));
  if (line) state.line = line;
  const cut = view.get("cut");
  if (cut) state.step = nearestStep(state.line, Number(cut) || 0);
  else if (line) state.step = view.has("cut") ? 0 : nearestStep(line, 0.5);
  state.measure = measures.find((each) => each.key === view.get("task")) ?? state.measure;
  const codes = view.get("languages")?.split(" ");
  if (codes)
    state.chosen = new Set(
      languages.filter((each) => codes.includes(each.code)).map((each) => each.index),
    );
  else state.chosen = new Set(languages.map((each) => each.index));
  return true;
}

window.polyprune = { lastRedraw: 0 };
startTheme();
startTables();
startFigures();
startMap();
startExplorer();
byId("all-results").addEventListener("click", () =>
  download("results.json", "application/json", JSON.stringify(everything(), null, 1)),
);
// Themes change what is drawn in shades.
new MutationObserver(() => toRedraw.forEach((draw) => draw())).observe(document.documentElement, {
  attributeFilter: ["data-theme"],
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  toRedraw.forEach((draw) => draw()),
);
