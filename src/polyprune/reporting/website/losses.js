// A line a language: what it was before and what it is now, those that lost most on top.
const FIRST_ROWS = 20;
let allRows = false;

function lossRows(before, after, chosen) {
  const rows = [];
  for (const language of languages) {
    if (!chosen.has(language.index)) continue;
    const was = before?.languages.get(language.index) ?? null;
    const is = after?.languages.get(language.index) ?? null;
    const named = before?.languages.has(language.index) || after?.languages.has(language.index);
    if (named) rows.push({ language, was, is, lost: known(was) && known(is) ? was - is : null });
  }
  return rows.sort(byLoss);
}

// What lost most comes first; without a comparison what is lowest; what is unknown comes last.
function byLoss(a, b) {
  const key = (row) => row.lost ?? (known(row.is) && row.was === null ? -row.is : null);
  const [x, y] = [key(a), key(b)];
  if (x === null || y === null)
    return (x === null) - (y === null) || a.language.name.localeCompare(b.language.name, "en");
  return y - x;
}

// The mean over those languages that have both numbers, so that it compares like with like.
function meanRow(rows, before, after, comparing) {
  const both = rows.filter((row) => known(row.is) && (!comparing || known(row.was)));
  if (both.length) {
    return {
      was: comparing ? mean(both.map((row) => row.was)) : null,
      is: mean(both.map((row) => row.is)),
      count: both.length,
    };
  }
  return { was: comparing ? (before?.mean ?? null) : null, is: after?.mean ?? null, count: 0 };
}

function lossesFor(view) {
  const { step, dense, measure, chosen } = view;
  const comparing = dense !== null && step !== dense;
  const [before, after] = [comparing ? scoreOf(measure, dense) : null, scoreOf(measure, step)];
  const rows = lossRows(before, after, chosen);
  const broken = (before?.languages.size ?? 0) + (after?.languages.size ?? 0) > 0;
  return { comparing, rows, broken, after, total: meanRow(rows, before, after, comparing), before };
}

function lossesTold(found, view) {
  if (found.after?.failed.length && !known(found.after.mean))
    return `It failed: ${found.after.failed[0]}`;
  if (!found.after && !found.before) return "There are no scores of this system by this measure.";
  if (!found.broken) return "Only the mean over languages is known.";
  if (!found.rows.length)
    return view.chosen.size
      ? "There are no scores of the chosen languages."
      : "No language is chosen.";
  const what = `${view.measure.title}, in percent`;
  if (!found.comparing) return `${what}; what is lowest is on top.`;
  return `${what}: uncut → ${sizeTitle(view.step)}. What lost most is on top.`;
}

const rowElements = new Map();

function drawLosses(view) {
  const place = byId("losses");
  if (!place) return null;
  const found = lossesFor(view);
  byId("losses-told").textContent = lossesTold(found, view);
  const shown = allRows ? found.rows : found.rows.slice(0, FIRST_ROWS);
  const ends = lossEnds(view, found);
  const list = place.querySelector("ul.dots") ?? place.appendChild(html("ul", { class: "dots" }));
  const total = {
    language: {
      name: "Mean",
      family: found.total.count ? `of ${plural(found.total.count, "language")}` : "over languages",
      hue: null,
    },
    ...found.total,
  };
  const hasTotal = known(total.was) || known(total.is);
  const parts = [...(hasTotal ? [total] : []), ...shown].map((row) =>
    drawRow(row, ends, found.comparing),
  );
  list.replaceChildren(...parts, ...(parts.length ? [axisRow(ends)] : []));
  place.querySelector("button")?.remove();
  if (found.rows.length > FIRST_ROWS) place.append(moreButton(found.rows.length, view));
  drawKey(place, found, view);
  return found;
}

// One scale for all sizes of a system: what moves with the slider are the marks.
function lossEnds(view, found) {
  const values = [found.total.was, found.total.is];
  for (const step of view.line.steps) {
    const score = scoreOf(view.measure, step);
    if (found.rows.length)
      for (const { language } of found.rows) values.push(score?.languages.get(language.index));
    else values.push(score?.mean);
  }
  const numbers = values.filter(known);
  if (!numbers.length) return [0, 100];
  let [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  // Less than ten points across would make little look like much.
  const room = Math.max(0, (10 - (high - low)) / 2);
  [low, high] = [Math.max(Math.min(low, 0), low - room), high + room];
  const step = [1, 2, 5, 10, 20, 50].find((each) => (high - low) / each <= 6) ?? 100;
  const first = Math.floor(low / step) * step;
  return [first, Math.max(first + step, Math.ceil(high / step) * step)];
}

function moreButton(count, view) {
  return html("button", {
    type: "button",
    class: "small more",
    "aria-expanded": String(allRows),
    text: allRows ? `Show the first ${FIRST_ROWS}` : `Show all ${count} languages`,
    onclick: () => {
      allRows = !allRows;
      drawLosses(view);
      byId("losses").querySelector("button.more")?.focus({ preventScroll: true });
    },
  });
}

// Elements stay with their languages, so that marks move from one size to the next.
function drawRow(row, [low, high], comparing) {
  const { name, family, hue } = row.language;
  const key = row.language.index ?? "mean";
  if (!rowElements.has(key)) rowElements.set(key, rowElement(name, hue));
  const parts = rowElements.get(key);
  parts.family.textContent = family;
  const part = (value) => `${(100 * value) / (high - low)}%`;
  const at = (value) => part(value - low);
  for (const [mark, value] of [
    [parts.was, comparing ? row.was : null],
    [parts.is, row.is],
  ]) {
    mark.hidden = !known(value);
    if (known(value)) mark.style.left = at(value);
  }
  const both = comparing && known(row.was) && known(row.is);
  parts.span.hidden = !both;
  if (both) {
    parts.span.style.left = at(Math.min(row.was, row.is));
    parts.span.style.width = part(Math.abs(row.was - row.is));
  }
  parts.numbers.textContent = comparing ? `${fixed(row.was)} → ${fixed(row.is)}` : fixed(row.is);
  parts.change.textContent = both ? signed(row.is - row.was) : comparing ? NOTHING : "";
  return parts.node;
}

function rowElement(name, hue) {
  const [family, span, was, is] = [
    html("small"),
    html("span", { class: "span" }),
    html("span", { class: "mark dense" }),
    html("span", { class: "mark pruned" }),
  ];
  const [numbers, change] = [html("span"), html("b")];
  const track = html("span", { class: "track", "aria-hidden": "true" }, span, was, is);
  if (hue !== null) hued(track, hue);
  const node = html(
    "li",
    { class: hue === null ? "mean" : null },
    html("span", { class: "name", text: name }, family),
    track,
    html("span", { class: "numbers" }, numbers, " ", change),
  );
  return { node, family, span, was, is, numbers, change };
}

function axisRow([low, high]) {
  const ticks = linearTicks(low, high, 4).map((tick) =>
    html("span", {
      text: compact(tick),
      style: { left: `${(100 * (tick - low)) / (high - low)}%` },
    }),
  );
  return html(
    "li",
    { class: "scale", "aria-hidden": "true" },
    html("span"),
    html("span", { class: "axis" }, ...ticks),
    html("span"),
  );
}

// What the marks and colours stand for.
function drawKey(place, found, view) {
  const families = familyKey(found.rows.map((row) => row.language.family));
  const marks = found.comparing
    ? [
        ["dense", "uncut"],
        ["pruned", sizeTitle(view.step)],
      ]
    : [["pruned", sizeTitle(view.step)]];
  const key = html(
    "ul",
    { class: "key", "aria-label": "Marks and colours" },
    ...marks.map(([kind, title]) => html("li", {}, html("span", { class: `mark ${kind}` }), title)),
    ...families.map(([title, hue]) =>
      html("li", {}, hued(html("span", { class: "swatch" }), hue), title),
    ),
  );
  place.querySelector(".key")?.remove();
  if (found.total.is !== null || found.rows.length) place.prepend(key);
}
