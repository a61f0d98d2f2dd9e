// A size, a system, a measure and languages: whatever changes, all that follows from it is redrawn.
const state = {
  line: null,
  step: 0,
  measure: null,
  chosen: new Set(languages.map((each) => each.index)),
};

function startExplorer() {
  if (!byId("explore") || !lines.length) return;
  state.line = defaultLine();
  state.step = nearestStep(state.line, 0.5);
  state.measure = defaultMeasure(state.line);
  options(byId("system"), [["", lines.map((line) => [line.name, line.title])]]);
  options(byId("measure"), measuresByRegime());
  byId("system-choice").hidden = lines.length < 2;
  byId("measure-choice").hidden = measures.length < 2;
  const showChosen = startChooser(state, () => redraw());
  redraw = () => {
    showChosen();
    drawAll();
    keepAddress();
  };
  listen();
  readAddress();
  redraw();
  addEventListener("hashchange", () => readAddress() && redraw());
}

let redraw = () => {};

// The line with most sizes, so that there is something to move; then what most is known of.
function defaultLine() {
  const told = (line) =>
    line.steps.filter((step) => measures.some((measure) => scoreOf(measure, step))).length;
  return [...lines].sort((a, b) => told(b) - told(a) || b.steps.length - a.steps.length)[0];
}

// The one that most sizes and languages of this line have.
function defaultMeasure(line) {
  const size = (measure) => {
    const found = line.steps.map((step) => scoreOf(measure, step)).filter(Boolean);
    return found.reduce((sum, score) => sum + 1 + score.languages.size, 0);
  };
  return [...measures].sort((a, b) => size(b) - size(a))[0] ?? null;
}

function nearestStep(line, sparsity) {
  const apart = line.steps.map((step) =>
    Math.abs((step.sparsity ?? (step === line.dense ? 0 : sparsity)) - sparsity),
  );
  return apart.indexOf(Math.min(...apart));
}

function options(select, groups) {
  for (const [title, entries] of groups) {
    const nodes = entries.map(([value, text]) => html("option", { value, text }));
    select.append(...(title ? [html("optgroup", { label: title }, ...nodes)] : nodes));
  }
}

function measuresByRegime() {
  const regimes = [...new Set(measures.map((each) => each.regime))];
  return regimes.map((regime) => [
    regimes.length > 1 ? regime : "",
    measures.filter((each) => each.regime === regime).map((each) => [each.key, each.title]),
  ]);
}

function listen() {
  byId("cut").addEventListener("input", (event) => {
    state.step = Number(event.target.value);
    redraw();
  });
  byId("system").addEventListener("change", (event) => {
    const sparsity = state.line.steps[state.step].sparsity ?? 0;
    state.line = lines.find((line) => line.name === event.target.value) ?? state.line;
    // From a size that the other does not have to the nearest one that it has.
    state.step = nearestStep(state.line, sparsity);
    redraw();
  });
  byId("measure").addEventListener("change", (event) => {
    state.measure = measures.find((each) => each.key === event.target.value) ?? state.measure;
    redraw();
  });
}

function drawAll() {
  const started = performance.now();
  const step = state.line.steps[state.step];
  const view = { ...state, step, dense: state.line.dense };
  drawSlider(view);
  drawTiles(step, view.dense);
  drawKept(step, view.dense, state.chosen);
  const found = drawLosses(view);
  byId("told").textContent = toldOf(view, found);
  showMap(step === view.dense ? { ...step, name: state.line.name } : step);
  // Reading a size makes the browser lay everything out now, so that the time is all of the time.
  void byId("explore").offsetHeight;
  window.polyprune.lastRedraw = performance.now() - started;
}

function drawSlider(view) {
  const { steps } = view.line;
  const slider = byId("cut");
  slider.max = String(Math.max(0, steps.length - 1));
  slider.value = String(state.step);
  slider.disabled = steps.length < 2;
  slider.setAttribute("aria-valuetext", stepTitle(view.step, view.dense));
  byId("cut-told").textContent = stepTitle(view.step, view.dense);
  byId("system").value = view.line.name;
  if (view.measure) byId("measure").value = view.measure.key;
  // Where names would touch only every other is written, but always the first and the last.
  const every = Math.ceil(steps.length / (innerWidth < 600 ? 7 : 14));
  byId("ticks").replaceChildren(
    ...steps.map((step, i) =>
      html("span", {
        class: i === state.step ? "now" : null,
        text: i % every === 0 || i === steps.length - 1 ? tickTitle(step, view.dense) : "",
        style: { left: `${steps.length > 1 ? (100 * i) / (steps.length - 1) : 0}%` },
      }),
    ),
  );
}

const stepTitle = (step, dense) => (step === dense ? "uncut" : sizeTitle(step));

const tickTitle = (step, dense) =>
  step === dense ? "uncut" : step.sparsity === null ? "as it is" : percent(step.sparsity);

// What is seen, as one sentence: also for whoever hears it.
function toldOf(view, found) {
  const who = view.step === view.dense ? view.dense.title : view.line.title;
  const parts = [`${who}, ${stepTitle(view.step, view.dense)}`];
  if (found && known(found.total.is)) {
    const of = found.comparing && known(found.total.was) ? ` of ${fixed(found.total.was)}` : "";
    const among = found.total.count ? `, mean of ${plural(found.total.count, "language")}` : "";
    const kept = found.comparing ? " kept" : "";
    const points = `${fixed(found.total.is)}${of} points${kept}`;
    parts.push(`: ${points} in ${view.measure.title}${among}`);
    const worst = found.rows[0];
    if (found.comparing && known(worst?.lost) && worst.lost > 0 && found.rows.length > 1) {
      parts.push(`; ${worst.language.name} lost most, ${fixed(worst.lost)}`);
    }
  }
  const faster = sizeOf(view.step, "faster");
  if (known(faster) && view.step !== view.dense) parts.push(`; ${fixed(faster, 2)} times as fast`);
  return `${parts.join("")}.`;
}
