// What the page knows, and what it works out from that: lines of sizes, and measures.
const data = JSON.parse(byId("data").textContent);

const systems = data.systems.map(([name, title, sparsity, setting], index) => ({
  index,
  name,
  title,
  sparsity,
  setting,
}));
const languages = data.languages.map(([code, name, family], index) => ({
  index,
  code,
  name,
  family,
  hue: hueOf(family),
}));

function hueOf(family) {
  return data.hues[family] ?? 7;
}

// Families for a legend: those with a colour of their own, then all others under one name.
function familyKey(families) {
  const own = [...new Set(families)].filter(Boolean);
  own.sort((a, b) => hueOf(a) - hueOf(b) || a.localeCompare(b, "en"));
  const others = own.filter((family) => hueOf(family) === 7);
  if (others.length < 2) return own.map((family) => [family, hueOf(family)]);
  const first = own.filter((family) => hueOf(family) < 7);
  return [...first.map((family) => [family, hueOf(family)]), ["other families", 7]];
}

const sizeTitle = (system) => {
  if (system.sparsity === 0) return "uncut";
  return system.sparsity === null ? "as it is" : `${percent(system.sparsity)} cut`;
};

// Everything that has one name, as steps of a slider: its baseline, then more and more cut out.
function lineOf(name) {
  const own = systems.filter((each) => each.name === name);
  const baseline = own.map((each) => data.baselines[each.index]).find(known);
  const dense = systems[baseline] ?? null;
  const cut = own.filter((each) => each !== dense);
  cut.sort((a, b) => (a.sparsity ?? 2) - (b.sparsity ?? 2));
  const steps = dense ? [dense, ...cut] : cut;
  const title = (cut[0] ?? dense).title;
  return { name, title, dense, steps };
}

const lines = (() => {
  const all = [...new Set(systems.map((each) => each.name))].map(lineOf);
  // A baseline is the first step of every other line.
  const others = all.filter((line) => line.steps.some((step) => step !== line.dense));
  return others.length ? others : all.slice(0, 1);
})();

const METRICS = { accuracy: "accuracy", f1: "F1", exact: "exact match" };

// The scores that are shown: the main one, and of answers F1 and exact match.
function counted(names) {
  if (names.includes("exact")) return ["f1", "exact"];
  if (names.includes("f1")) return ["f1"];
  return names.slice(0, 1);
}

const measures = (() => {
  const found = new Map();
  for (const score of data.scores) {
    const shown = counted(score.names);
    for (const name of shown) {
      const [task, taskTitle] = data.tasks[score.t];
      const regime = data.regimes[score.r];
      const key = `${regime}/${task}/${name}`;
      const title = shown.length > 1 ? `${taskTitle}, ${METRICS[name] ?? name}` : taskTitle;
      const { t, r } = score;
      if (!found.has(key)) found.set(key, { key, regime, name, title, t, r });
    }
  }
  return [...found.values()].sort((a, b) => a.r - b.r || a.t - b.t);
})();

// Scores by system, task and regime; where there are several seeds, their means.
const board = new Map(
  [...data.scores, ...data.means].map((each) => [`${each.s} ${each.t} ${each.r}`, each]),
);
const cells = new Map();

// How a system did by a measure, in all languages together and in each.
function scoreOf(measure, system) {
  if (!measure || !system) return null;
  const key = `${system.index} ${measure.key}`;
  if (!cells.has(key)) cells.set(key, readScore(measure, system));
  return cells.get(key);
}

function readScore(measure, system) {
  const score = board.get(`${system.index} ${measure.t} ${measure.r}`);
  const column = score?.names.indexOf(measure.name) ?? -1;
  const failed = [score?.failed].flat().filter(Boolean);
  if (column < 0 && !failed.length) return null;
  const value = score.mean[column] ?? null;
  const byLanguage = new Map(score.l.map((code, i) => [code, score.v[column]?.[i] ?? null]));
  return { mean: value, seeds: score.seeds ?? Number(known(value)), languages: byLanguage, failed };
}

const sizeOf = (system, field) => data.sizes[data.measured[system?.index]]?.[field] ?? null;

const keptOf = (() => {
  const found = new Map();
  for (const each of data.kept) {
    if (!found.has(each.s)) found.set(each.s, []);
    found.get(each.s).push(each);
  }
  return (system) => found.get(system?.index) ?? [];
})();
