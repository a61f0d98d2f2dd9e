// What the page knows, and what it works out from that: lines of sizes, measures, means over seeds.
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

// What a system is compared with: its own uncut size, or the dense model.
function referenceOf(name) {
  const uncut = systems.filter((each) => each.sparsity === 0);
  const own = uncut.filter((each) => each.name === name);
  const dense = systems.filter((each) => each.name === "dense" && !each.sparsity);
  return own[0] ?? dense[0] ?? (uncut.length === 1 ? uncut[0] : null);
}

// Everything that has one name, as steps of a slider: uncut first, then more and more cut out.
function lineOf(name) {
  const own = systems.filter((each) => each.name === name);
  const dense = referenceOf(name);
  const cut = own.filter((each) => each !== dense);
  cut.sort((a, b) => (a.sparsity ?? 2) - (b.sparsity ?? 2));
  const steps = dense ? [dense, ...cut] : cut;
  const title = (cut[0] ?? dense).title;
  return { name, title, dense, steps };
}

const lines = (() => {
  const all = [...new Set(systems.map((each) => each.name))].map(lineOf);
  // The dense model is the first step of every other line.
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
      if (!found.has(key)) found.set(key, { key, regime, name, title, scores: [] });
      found.get(key).scores.push(score);
    }
  }
  const order = (each) => [each.scores[0].r, each.scores[0].t];
  return [...found.values()].sort((a, b) => order(a)[0] - order(b)[0] || order(a)[1] - order(b)[1]);
})();

const cells = new Map();

// How a system did by a measure: the mean over seeds, of all and of every language.
function scoreOf(measure, system) {
  if (!measure || !system) return null;
  const key = `${system.index} ${measure.key}`;
  if (!cells.has(key)) cells.set(key, overSeeds(measure, system));
  return cells.get(key);
}

function overSeeds(measure, system) {
  const own = measure.scores.filter((score) => score.s === system.index);
  if (!own.length) return null;
  const means = [];
  const byLanguage = new Map();
  for (const score of own) {
    const column = score.names.indexOf(measure.name);
    means.push(score.mean[column]);
    score.l.forEach((language, i) => {
      if (!byLanguage.has(language)) byLanguage.set(language, []);
      byLanguage.get(language).push(score.v[column][i]);
    });
  }
  for (const [language, values] of byLanguage) byLanguage.set(language, mean(values));
  const numbers = means.filter(known);
  const failed = own.map((score) => score.failed).filter(Boolean);
  return { mean: mean(numbers), seeds: numbers.length, languages: byLanguage, failed };
}

const sizeOf = (() => {
  const found = new Map();
  for (const size of data.sizes) {
    if (!found.has(size.s)) found.set(size.s, []);
    found.get(size.s).push(size);
  }
  return (system, field) => mean((found.get(system?.index) ?? []).map((size) => size[field]));
})();

const keptOf = (() => {
  const found = new Map();
  for (const each of data.kept) {
    if (!found.has(each.s)) found.set(each.s, []);
    found.get(each.s).push(each);
  }
  return (system) => found.get(system?.index) ?? [];
})();
