// What drawings are made of: marks, names beside them, legends.
const SHAPES = ["circle", "square", "diamond", "triangle", "wedge"];

function markPath(shape, x, y, r) {
  const [a, b] = [(dx) => (x + dx * r).toFixed(1), (dy) => (y + dy * r).toFixed(1)];
  if (shape === "square") return `M${a(-0.85)} ${b(-0.85)}H${a(0.85)}V${b(0.85)}H${a(-0.85)}Z`;
  if (shape === "diamond")
    return `M${a(0)} ${b(-1.2)}L${a(1.2)} ${b(0)}L${a(0)} ${b(1.2)}L${a(-1.2)} ${b(0)}Z`;
  if (shape === "triangle") return `M${a(0)} ${b(-1.15)}L${a(1.1)} ${b(0.85)}H${a(-1.1)}Z`;
  if (shape === "wedge") return `M${a(0)} ${b(1.15)}L${a(1.1)} ${b(-0.85)}H${a(-1.1)}Z`;
  return `M${a(-1)} ${b(0)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

// Names beside marks, each where it touches no other and no mark; where there is no room, no name.
function placeNames(named, obstacles, frame, size = 11) {
  const taken = obstacles.map(({ x, y, r = 4 }) => [x - r, y - r, x + r, y + r]);
  const drawn = [];
  for (const { x, y, name, style } of named) {
    const width = widthOf(name, size);
    const places = [
      [x + 7, y + 4, "start"],
      [x - 7, y + 4, "end"],
      [x, y - 8, "middle"],
      [x, y + 16, "middle"],
      [x + 6, y - 6, "start"],
      [x - 6, y - 6, "end"],
      [x + 6, y + 13, "start"],
      [x - 6, y + 13, "end"],
    ];
    for (const [px, py, anchor] of places) {
      const left = px - { start: 0, middle: width / 2, end: width }[anchor];
      const box = [left, py - size + 2, left + width, py + 2];
      const fits =
        box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3];
      if (!fits || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      drawn.push(
        svg("text", { class: "name", x: px, y: py, "text-anchor": anchor, text: name, style }),
      );
      break;
    }
  }
  return drawn;
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Names with the marks that stand for them, in as many rows as they need.
function legend(entries, width, top) {
  const group = svg("g", { class: "legend" });
  let x = 0;
  let y = top;
  for (const { title, draw } of entries) {
    const text = wrapped(title, width - 30, 12).join(" ");
    const wide = 28 + widthOf(text, 12) + 16;
    if (x > 0 && x + wide - 16 > width) [x, y] = [0, y + 18];
    group.append(draw(x, y), svg("text", { x: x + 28, y: y + 4, text }));
    x += wide;
  }
  return { group, bottom: entries.length ? y + 18 : top };
}

function heading(title, width) {
  const group = svg("g", { class: "heading" });
  const rows = title ? wrapped(title, width, 13) : [];
  rows.forEach((text, i) => group.append(svg("text", { x: 0, y: 13 + 17 * i, text })));
  return { group, bottom: rows.length * 17 + (rows.length ? 12 : 8) };
}

function frameOf(width, height, told) {
  return svg("svg", {
    class: "chart",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    tabindex: 0,
    "aria-label": told,
  });
}

const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Between two colours, for what has an order.
function shaded(share) {
  const parts = (name) => [1, 3, 5].map((i) => Number.parseInt(variable(name).slice(i, i + 2), 16));
  const [a, b] = [parts("--hue-1"), parts("--hue-0")];
  return `rgb(${a.map((each, i) => Math.round(each + (b[i] - each) * share)).join(" ")})`;
}
