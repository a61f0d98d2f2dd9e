// Numbers and drawings as files.
function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const fileName = (name) => name.replace(/[^\w.-]+/g, "-").replace(/^[.-]+|-+$/g, "") || "data";

function csv(rows) {
  return `${rows.map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

// A text that begins like a formula would be computed by a spreadsheet that opens the file.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A drawing by itself: with the rules that it is drawn by, and their colours written out.
function standalone(drawings) {
  const gap = 24;
  const sizes = drawings.map((each) => [
    Number(each.getAttribute("width")),
    Number(each.getAttribute("height")),
  ]);
  const width = sizes.reduce((sum, [w]) => sum + w + gap, -gap);
  const height = Math.max(...sizes.map(([, h]) => h));
  const all = svg("svg", { xmlns: SVG_NAMES, viewBox: `0 0 ${width} ${height}`, width, height });
  all.append(
    svg("style", { text: drawingRules() }),
    svg("rect", { class: "paper", width, height }),
  );
  let x = 0;
  drawings.forEach((each, i) => {
    const copy = each.cloneNode(true);
    copy.setAttribute("x", x);
    copy.removeAttribute("tabindex");
    copy.querySelectorAll(".pointer").forEach((node) => node.remove());
    all.append(copy);
    x += sizes[i][0] + gap;
  });
  const colours = getComputedStyle(document.documentElement);
  return new XMLSerializer()
    .serializeToString(all)
    .replace(/var\((--[\w-]+)\)/g, (whole, name) => colours.getPropertyValue(name).trim() || whole);
}

function drawingRules() {
  const rules = [];
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule.selectorText?.startsWith("svg")) rules.push(rule.cssText);
    }
  }
  return rules.join("\n");
}

// All results, one record each, as they were before the page packed them into columns.
function everything() {
  const system = (index) => {
    const { name, title, sparsity, setting } = systems[index];
    return { system: name, title, sparsity, setting };
  };
  const code = (index) => (index === null ? null : languages[index].code);
  const named = (names, values) => Object.fromEntries(names.map((name, i) => [name, values[i]]));
  return {
    title: data.title,
    about: data.about,
    scores: data.scores.map((each) => ({
      ...system(each.s),
      task: data.tasks[each.t][0],
      regime: data.regimes[each.r],
      seed: each.seed,
      ...(each.failed ? { failed: each.failed } : {}),
      mean: named(each.names, each.mean),
      languages: Object.fromEntries(
        each.l.map((index, i) => [
          code(index),
          named(
            each.names,
            each.v.map((column) => column[i]),
          ),
        ]),
      ),
    })),
    sizes: data.sizes.map(({ s, ...rest }) => ({ ...system(s), ...rest })),
    kept: data.kept.map(({ s, l, kept, whole }) => ({
      ...system(s),
      language: code(l),
      kept: widths(kept),
      whole: widths(whole),
    })),
    distances: data.distances.map(({ s, l, m }) => ({
      ...system(s),
      languages: l.map(code),
      below_the_diagonal: m,
    })),
    curves: data.curves.map(({ s, l, x, y }) => ({
      ...system(s),
      language: code(l),
      points: x.map((step, i) => [step, y[i]]),
    })),
    failures: data.failures.map(([what, why]) => ({ what, why })),
  };
}

const widths = ([heads, units, rank]) => ({ heads, units, rank });
