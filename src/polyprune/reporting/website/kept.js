// Heads, units and rank that are left, layer by layer, for the languages that were chosen.
const PARTS = ["Heads", "Units"];

// The same shape for one and for many: a mean, and from where to where.
function keptFor(step, dense, chosen) {
  const records = keptOf(step);
  if (!records.length) return wholeFor(step, dense);
  const shared = records.filter((each) => each.l === null);
  const own = records.filter((each) => each.l !== null && chosen.has(each.l));
  const used = shared.length ? shared.slice(0, 1) : own;
  if (!used.length)
    return { told: "For the chosen languages it is not known what is kept.", rows: [] };
  return { told: keptTold(shared.length > 0, used), rows: keptRows(used) };
}

// Nothing is cut from what is uncut, so that whatever was cut from it tells its widths.
function wholeFor(step, dense) {
  const unknown = { told: "It is not known what is kept.", rows: [] };
  if (step !== dense) return unknown;
  const any = data.kept[0];
  if (!any) return unknown;
  return { told: "Nothing is cut yet.", rows: keptRows([{ kept: any.whole, whole: any.whole }]) };
}

function keptTold(shared, used) {
  const what = "heads and units of every layer, and the rank of the word table";
  if (shared) return `All languages share these ${what}.`;
  if (used.length === 1) return `What ${languages[used[0].l].name} keeps: ${what}.`;
  const bar = `the bar is the mean of ${used.length}`;
  return `Every language has its own: ${bar}, the thin line is from the least to the most.`;
}

function keptRows(used) {
  const layers = Math.max(...used.map((each) => each.whole[0].length));
  const rows = [];
  for (let layer = 0; layer < layers; layer += 1) {
    rows.push({
      name: String(layer + 1),
      parts: [0, 1].map((part) => shareOf(used, (widths) => widths[part][layer])),
    });
  }
  rows.push({ name: "Rank", parts: [shareOf(used, (widths) => widths[2])] });
  return rows;
}

function shareOf(used, pick) {
  const counts = used.map((each) => pick(each.kept)).filter(known);
  const wholes = used.map((each) => pick(each.whole)).filter(known);
  if (!counts.length || !wholes.length) return null;
  return {
    mean: mean(counts),
    low: Math.min(...counts),
    high: Math.max(...counts),
    whole: Math.max(...wholes),
  };
}

let keptBody = [];

function drawKept(step, dense, chosen) {
  const place = byId("kept");
  if (!place) return;
  const { told, rows } = keptFor(step, dense, chosen);
  byId("kept-told").textContent = told;
  place.hidden = !rows.length;
  // The table stays, so that bars grow and shrink rather than appear anew.
  if (keptBody.length !== rows.length) {
    keptBody = [];
    place.replaceChildren(...(rows.length ? [keptTable(rows)] : []));
  }
  rows.forEach((row, i) => row.parts.forEach((share, part) => drawShare(keptBody[i][part], share)));
}

function keptTable(rows) {
  const head = html(
    "tr",
    {},
    ...["Layer", ...PARTS].map((text) => html("th", { scope: "col", text })),
  );
  const body = html("tbody");
  keptBody = rows.map((row) => {
    const bars = row.parts.map(shareElement);
    const cells = bars.map((bar) =>
      html("td", { colspan: row.parts.length === 1 ? 2 : null }, bar.node),
    );
    body.append(
      html(
        "tr",
        { class: row.parts.length === 1 ? "rank" : null },
        html("th", { scope: "row", text: row.name }),
        ...cells,
      ),
    );
    return bars;
  });
  return html(
    "table",
    { class: "layers" },
    html("caption", { class: "unseen", text: "What is kept of every layer" }),
    html("thead", {}, head),
    body,
  );
}

function shareElement() {
  const [bar, range, count] = [html("i"), html("u"), html("span", { class: "count" })];
  return {
    node: html(
      "div",
      { class: "share" },
      html("span", { class: "bar", "aria-hidden": "true" }, bar, range),
      count,
    ),
    bar,
    range,
    count,
  };
}

function drawShare({ bar, range, count }, share) {
  const part = (value) => `${share && share.whole ? (100 * value) / share.whole : 0}%`;
  bar.style.width = share ? part(share.mean) : "0";
  const spread = share && share.high > share.low;
  range.hidden = !spread;
  if (spread) {
    range.style.left = part(share.low);
    range.style.width = part(share.high - share.low);
  }
  const told = (value) => Number(value.toFixed(value < 20 ? 1 : 0)).toLocaleString("en");
  count.textContent = share
    ? `${told(share.mean)} of ${share.whole.toLocaleString("en")}`
    : NOTHING;
}
