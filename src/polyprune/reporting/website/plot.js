// Series in a frame, drawn at the width that there is.
function drawPlot(plot, width, styles) {
  const top = heading(plot.title, width);
  const looks = plot.series.map((each, i) => lookOf(each, i, plot, styles));
  const listed = plot.series.length > 1 ? looks.filter((look) => !look.series.faint) : [];
  const names = legend(
    listed.map((look) => ({ title: look.series.title, draw: look.sample })),
    width,
    top.bottom,
  );
  const height = Math.round(Math.min(340, Math.max(210, 0.6 * width)) + names.bottom + 44);
  const drawing = frameOf(width, height, plotAloud(plot));
  const values = plot.series.flatMap((each) => [
    ...each.y,
    ...(each.low ?? []),
    ...(each.high ?? []),
  ]);
  const along = plot.series.filter((each) => each.style !== "level");
  const xs = along.flatMap((each) => [...each.x, ...(each.left ?? []), ...(each.right ?? [])]);
  const y = scaleOf(plot.y, values, height - 44, names.bottom + 10, 5);
  const left = 26 + Math.max(0, ...y.ticks.map((tick) => widthOf(compact(tick), 11)));
  const x = scaleOf(plot.x, xs, left, width - 12, Math.max(3, Math.floor(width / 90)));
  const box = { left, right: width - 12, top: names.bottom + 2, bottom: height - 44 };
  drawing.append(top.group, names.group, axes(plot, x, y, box));
  const [marks, taken] = [[], []];
  const order = [...looks].sort((a, b) => b.series.faint - a.series.faint);
  for (const look of order) drawing.append(drawSeries(look, { x, y, box, marks, taken, plot }));
  const named = marks.filter((mark) => mark.name);
  drawing.append(
    ...placeNames(named, [...marks, ...taken], [box.left, box.top, width, box.bottom]),
  );
  if (plot.note) drawing.append(noteOf(plot.note, box, marks));
  const level = looks.some(({ series }) => series.style === "level" && known(series.y[0]));
  if (!marks.length && !level) drawing.append(emptyOf(box));
  tellMarks(drawing, marks);
  return drawing;
}

function emptyOf(box) {
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  return svg("text", { class: "empty", x, y, "text-anchor": "middle", text: "no numbers" });
}

// The colour, shape and dashes of a series: by its word where it has one, else by its place.
function lookOf(series, index, plot, styles) {
  const place = styles.placeOf(series, index);
  const hue = data.hues[series.colour] ?? place % 8;
  const shape = SHAPES[place % SHAPES.length];
  const colour = known(series.shade) ? shaded(series.shade) : `var(--hue-${hue})`;
  // Colours begin again after the eighth; then dashes tell lines apart.
  const dashed = series.dashed || (!known(series.shade) && place > 7);
  const many = series.x.length > 30 || known(series.shade);
  const sample = (x, y) => {
    const group = svg("g", { class: "series", style: { color: colour } });
    if (series.style !== "marks")
      group.append(svg("path", { class: dashed ? "line dashed" : "line", d: `M${x} ${y}h22` }));
    if (series.style === "marks" || (series.style === "line" && !many))
      group.append(svg("path", { class: "point", d: markPath(shape, x + 11, y, 4) }));
    return group;
  };
  return { series, shape, colour, dashed, many, sample };
}

function axes(plot, x, y, box) {
  const group = svg("g", { class: "axes" });
  for (const [tick, text] of tickWords(y, false)) {
    const at = y.at(tick).toFixed(1);
    group.append(svg("path", { class: "grid", d: `M${box.left} ${at}H${box.right}` }));
    if (text)
      group.append(svg("text", { x: box.left - 7, y: Number(at) + 4, "text-anchor": "end", text }));
  }
  for (const [tick, text] of tickWords(x, true)) {
    const at = x.at(tick).toFixed(1);
    group.append(svg("path", { class: "tick", d: `M${at} ${box.bottom}v5` }));
    if (text)
      group.append(svg("text", { x: at, y: box.bottom + 18, "text-anchor": "middle", text }));
  }
  group.append(svg("path", { class: "base", d: `M${box.left} ${box.bottom}H${box.right}` }));
  const middle = (box.top + box.bottom) / 2;
  group.append(
    svg("text", {
      class: "label",
      x: (box.left + box.right) / 2,
      y: box.bottom + 38,
      "text-anchor": "middle",
      text: plot.x.label,
    }),
    svg("text", {
      class: "label",
      x: 0,
      y: 0,
      transform: `translate(11 ${middle}) rotate(-90)`,
      "text-anchor": "middle",
      text: plot.y.label,
    }),
  );
  return group;
}

function drawSeries(look, { x, y, box, marks, taken, plot }) {
  const { series, shape, colour, dashed, many } = look;
  const group = svg("g", {
    class: series.faint ? "series faint" : "series",
    style: { color: colour },
  });
  const line = dashed ? "line dashed" : "line";
  if (series.style === "level") {
    const at = y.inside(series.y[0]) ? y.at(series.y[0]) : null;
    if (at !== null)
      group.append(svg("path", { class: line, d: `M${box.left} ${at.toFixed(1)}H${box.right}` }));
    return group;
  }
  const own = [];
  let path = "";
  let pen = "M";
  series.x.forEach((value, i) => {
    // Where there is no number the line is broken.
    if (!x.inside(value) || !y.inside(series.y[i])) return void (pen = "M");
    const place = { x: x.at(value), y: y.at(series.y[i]) };
    path += `${pen}${place.x.toFixed(1)} ${place.y.toFixed(1)}`;
    group.append(...intervals(series, i, place, x, y));
    const [left, right] = [series.left?.[i], series.right?.[i]];
    if (x.inside(left) && x.inside(right)) {
      taken.push(...between({ x: x.at(left), y: place.y }, { x: x.at(right), y: place.y }));
    }
    if (series.style === "line" && pen === "L") taken.push(...between(own.at(-1), place));
    const name = series.faint ? "" : series.labels?.[i];
    own.push({ ...place, name, lines: pointAloud(series, i, plot), style: { fill: colour } });
    pen = "L";
  });
  if (series.style === "line" && path) group.append(svg("path", { class: line, d: path }));
  if (own.length && (series.style === "marks" || !(many || series.faint))) {
    const d = own.map((each) => markPath(shape, each.x, each.y, many ? 3 : 4)).join("");
    group.append(svg("path", { class: "point", d }));
  }
  if (!series.faint) marks.push(...own);
  return group;
}

function intervals(series, i, place, x, y) {
  const found = [];
  const [low, high] = [series.low?.[i], series.high?.[i]];
  if (y.inside(low) && y.inside(high)) {
    found.push(
      svg("path", {
        class: "interval",
        d: `M${place.x.toFixed(1)} ${y.at(low).toFixed(1)}V${y.at(high).toFixed(1)}`,
      }),
    );
  }
  const [left, right] = [series.left?.[i], series.right?.[i]];
  if (x.inside(left) && x.inside(right)) {
    found.push(
      svg("path", {
        class: "interval",
        d: `M${x.at(left).toFixed(1)} ${place.y.toFixed(1)}H${x.at(right).toFixed(1)}`,
      }),
    );
  }
  return found;
}

// Places along a line, which names keep away from.
function between(a, b) {
  const count = Math.min(60, Math.ceil(Math.hypot(b.x - a.x, b.y - a.y) / 6));
  return Array.from({ length: count }, (_, i) => ({
    x: a.x + ((b.x - a.x) * i) / count,
    y: a.y + ((b.y - a.y) * i) / count,
    r: 2,
  }));
}

function range(low, high) {
  return known(low) && known(high) ? ` (${compact(low)}–${compact(high)})` : "";
}

function pointAloud(series, i, plot) {
  const name = series.labels?.[i] ? `${series.labels[i]} · ${series.title}` : series.title;
  return [
    name || plot.title,
    `${plot.x.label}: ${compact(series.x[i])}${range(series.left?.[i], series.right?.[i])}`,
    `${plot.y.label}: ${compact(series.y[i])}${range(series.low?.[i], series.high?.[i])}`,
  ];
}

// A few words in that corner of the frame that has the fewest marks.
function noteOf(note, box, marks) {
  const width = widthOf(note, 12);
  const corners = [
    [box.right - 6, box.top + 14, "end"],
    [box.left + 8, box.top + 14, "start"],
    [box.left + 8, box.bottom - 10, "start"],
    [box.right - 6, box.bottom - 10, "end"],
  ];
  const crowd = ([x, y, anchor]) => {
    const left = anchor === "end" ? x - width : x;
    return marks.filter(
      (each) => each.x > left - 10 && each.x < left + width + 10 && Math.abs(each.y - y) < 18,
    ).length;
  };
  const [x, y, anchor] = corners.sort((a, b) => crowd(a) - crowd(b))[0];
  return svg("text", { class: "note", x, y, "text-anchor": anchor, text: note });
}

function plotAloud(plot) {
  const told = plot.series
    .filter((each) => !each.faint)
    .map((each) => {
      const numbers = each.y.filter(known);
      if (!numbers.length) return `${each.title}: no numbers`;
      const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
      return `${each.title}: ${compact(low)}${low === high ? "" : ` to ${compact(high)}`}`;
    });
  const shown = told.length > 12 ? [...told.slice(0, 12), `and ${told.length - 12} more`] : told;
  const axes = `${plot.y.label} against ${plot.x.label}`;
  return `${plot.title || plot.y.label}. ${axes}. ${shown.join("; ")}. ${plot.note}`.trim();
}
