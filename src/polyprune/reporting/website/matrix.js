// A number for every pair, as shades of one colour: an element for each shade, not for each cell.
const SHADES = 24;

function drawMatrix(matrix, width) {
  const count = matrix.names.length;
  const top = heading(matrix.title, width);
  const names = legend(
    familyKey(matrix.groups).map(([title, hue]) => ({ title, draw: (x, y) => swatch(hue, x, y) })),
    width,
    top.bottom,
  );
  const longest = Math.max(0, ...matrix.names.map((name) => widthOf(name, 11)));
  const roomy = Math.min(42, (width - longest - 24) / count);
  const legible = roomy >= 9;
  const bar = 8;
  const left = (legible ? longest + 6 : 0) + bar + 4;
  const cell = Math.min(42, (width - left - 2) / count);
  const edge = names.bottom + bar + 4;
  const foot = legible ? longest * 0.75 + 14 : 8;
  const height = Math.round(edge + cell * count + foot + 44);
  const drawing = frameOf(width, height, matrixAloud(matrix));
  drawing.append(top.group, names.group);
  const flat = matrix.values.flatMap((row, i) => row.filter((value, j) => i !== j && known(value)));
  const [low, high] = flat.length ? [Math.min(...flat), Math.max(...flat)] : [0, 1];
  drawing.append(matrixCells(matrix, { left, edge, cell, low, high }));
  drawing.append(...groupBars(matrix.groups, { left, edge, cell, bar }));
  if (legible)
    drawing.append(
      ...matrixNames(matrix.names, {
        left: left - bar - 6,
        x: left,
        edge,
        cell,
        foot: edge + cell * count + 10,
      }),
    );
  drawing.append(
    shadeScale(matrix.label, low, high, left, height - 22, Math.min(200, 0.4 * (width - left))),
  );
  tellCells(drawing, matrix, { left, edge, cell });
  return drawing;
}

function swatch(hue, x, y) {
  return hued(
    svg("rect", { class: "patch", x: x + 6, y: y - 6, width: 12, height: 12, rx: 3 }),
    hue,
  );
}

function matrixCells(matrix, { left, edge, cell, low, high }) {
  const paths = Array.from({ length: SHADES }, () => "");
  let missing = "";
  const size = cell.toFixed(2);
  const part = (share) => (cell * share).toFixed(2);
  matrix.values.forEach((row, i) => {
    row.forEach((value, j) => {
      const place = `M${(left + j * cell).toFixed(2)} ${(edge + i * cell).toFixed(2)}`;
      if (i === j) return;
      if (!known(value)) missing += `${place}m${part(0.3)} ${part(0.5)}h${part(0.4)}`;
      else {
        const share = high > low ? Math.max(0, (value - low) / (high - low)) : 0.5;
        paths[Math.min(SHADES - 1, Math.floor(share * SHADES))] +=
          `${place}h${size}v${size}h-${size}z`;
      }
    });
  });
  const group = svg("g", { class: "cells" });
  paths.forEach(
    (d, i) => d && group.append(svg("path", { d, "fill-opacity": shadeOf(i).toFixed(3) })),
  );
  if (missing) group.append(svg("path", { class: "missing", d: missing }));
  return group;
}

const shadeOf = (index) => 0.05 + (0.95 * index) / (SHADES - 1);

// Neighbours of one group are one bar, at the left and on top.
function groupBars(groups, { left, edge, cell, bar }) {
  const bars = [];
  for (let start = 0; start < groups.length;) {
    let end = start + 1;
    while (end < groups.length && groups[end] === groups[start]) end += 1;
    const [from, long] = [start * cell + 0.5, (end - start) * cell - 1];
    const hue = hueOf(groups[start]);
    if (groups[start]) {
      bars.push(
        hued(
          svg("rect", {
            class: "patch",
            x: left - bar - 2,
            y: edge + from,
            width: bar,
            height: long,
          }),
          hue,
        ),
        hued(
          svg("rect", {
            class: "patch",
            x: left + from,
            y: edge - bar - 2,
            width: long,
            height: bar,
          }),
          hue,
        ),
      );
    }
    start = end;
  }
  return bars;
}

function matrixNames(names, { left, x, edge, cell, foot }) {
  const size = Math.min(11, cell);
  return names.flatMap((text, i) => {
    const along = x + (i + 0.5) * cell;
    return [
      svg("text", {
        x: left,
        y: edge + (i + 0.5) * cell + 4,
        "text-anchor": "end",
        "font-size": size,
        text,
      }),
      svg("text", {
        transform: `translate(${along + 3} ${foot}) rotate(-45)`,
        "text-anchor": "end",
        "font-size": size,
        text,
      }),
    ];
  });
}

function shadeScale(label, low, high, x, y, width) {
  const group = svg("g", { class: "cells" });
  const step = width / SHADES;
  for (let i = 0; i < SHADES; i += 1) {
    group.append(
      svg("rect", {
        x: x + i * step,
        y: y - 10,
        width: step + 0.3,
        height: 8,
        "fill-opacity": shadeOf(i).toFixed(3),
      }),
    );
  }
  group.append(
    svg("text", { x, y: y + 12, text: compact(Number(low.toPrecision(2))) }),
    svg("text", {
      x: x + width,
      y: y + 12,
      "text-anchor": "end",
      text: compact(Number(high.toPrecision(2))),
    }),
    svg("text", { x: x + width + 14, y, text: label }),
  );
  return group;
}

// Arrow keys walk through every pair once; the pointer finds all cells.
function tellCells(drawing, matrix, { left, edge, cell }) {
  const count = matrix.names.length;
  const [below, above] = [[], []];
  const places = new Map();
  matrix.values.forEach((row, i) =>
    row.forEach((value, j) => {
      if (i === j) return;
      const mark = {
        x: left + (j + 0.5) * cell,
        y: edge + (i + 0.5) * cell,
        get lines() {
          return [
            `${matrix.names[i]} and ${matrix.names[j]}`,
            `${matrix.label}: ${compact(value)}`,
          ];
        },
      };
      (j < i ? below : above).push([i * count + j, mark]);
    }),
  );
  const all = [...below, ...above];
  all.forEach(([place], index) => places.set(place, index));
  tellMarks(
    drawing,
    all.map(([, mark]) => mark),
    (_, x, y) => {
      const [i, j] = [Math.floor((y - edge) / cell), Math.floor((x - left) / cell)];
      const inside = i >= 0 && j >= 0 && i < count && j < count;
      return inside ? (places.get(i * count + j) ?? -1) : -1;
    },
  );
}

function matrixAloud(matrix) {
  const pairs = [];
  matrix.values.forEach((row, i) =>
    row.forEach((value, j) => {
      if (j < i && known(value)) pairs.push([value, i, j]);
    }),
  );
  if (!pairs.length) return `${matrix.title}. ${matrix.label}: no numbers.`;
  pairs.sort((a, b) => a[0] - b[0]);
  const told = ([value, i, j]) => `${matrix.names[i]} and ${matrix.names[j]}, ${compact(value)}`;
  const ends = `Least: ${told(pairs[0])}. Most: ${told(pairs[pairs.length - 1])}.`;
  return `${matrix.title}. ${matrix.label} of ${plural(matrix.names.length, "name")}. ${ends}`;
}
