// Languages in a plane, near those whose subnetworks are like theirs.
const distancesOf = (step) => {
  const own = data.distances.filter((each) => each.l.length > 2);
  const same = own.filter((each) => systems[each.s].name === step?.name);
  const apart = (each) => Math.abs((systems[each.s].sparsity ?? 0) - (step?.sparsity ?? 0));
  return (same.length ? same : own).sort((a, b) => apart(a) - apart(b))[0] ?? null;
};

function distance(found, i, j) {
  if (i === j) return 0;
  const [a, b] = i > j ? [i, j] : [j, i];
  return found.m[(a * (a - 1)) / 2 + b];
}

function nearestTo(found, i, count = 3) {
  const others = found.l.map((language, j) => [distance(found, i, j), languages[language]]);
  others.splice(i, 1);
  return others
    .filter(([apart]) => known(apart))
    .sort((a, b) => a[0] - b[0])
    .slice(0, count);
}

function drawMap(found, width) {
  const shown = found.l.map((index) => languages[index]);
  const families = familyKey(shown.map((each) => each.family));
  const names = legend(
    families.map(([title, hue]) => ({
      title,
      draw: (x, y) =>
        hued(svg("path", { class: "point", d: markPath("circle", x + 14, y, 5) }), hue),
    })),
    width,
    12,
  );
  const [xs, ys] = [0, 1].map((axis) => found.p.map((place) => place[axis]));
  const [wide, tall] = [xs, ys].map((values) => Math.max(...values) - Math.min(...values));
  const room = 44;
  // The same scale both ways: only then are distances what they seem to be.
  const share = wide > 0 ? Math.min(0.6, Math.max(0.35, tall / wide)) : 0.5;
  const height = Math.round(names.bottom + Math.max(240, share * width) + 10);
  const inner = { width: width - 2 * room, height: height - names.bottom - 2 * 26 };
  const scale = Math.min(inner.width / (wide || 1), inner.height / (tall || 1));
  const [midX, midY] = [xs, ys].map((values) => (Math.max(...values) + Math.min(...values)) / 2);
  const drawing = frameOf(width, height, mapAloud(found, shown));
  drawing.append(names.group);
  const marks = shown.map((each, i) => ({
    x: width / 2 + (xs[i] - midX) * scale,
    y: names.bottom + 26 + inner.height / 2 - (ys[i] - midY) * scale,
    name: shown.length > 40 ? each.code : each.name,
    style: { fill: `var(--hue-${each.hue})` },
    lines: [
      `${each.name} · ${each.family}`,
      ...nearestTo(found, i).map(
        ([apart, other]) => `${other.name}: ${percent(apart)} of gates differ`,
      ),
    ],
  }));
  marks.forEach((mark, i) =>
    drawing.append(
      hued(svg("path", { class: "point", d: markPath("circle", mark.x, mark.y, 5) }), shown[i].hue),
    ),
  );
  drawing.append(...placeNames(marks, marks, [0, names.bottom, width, height]));
  tellMarks(drawing, marks);
  return drawing;
}

function mapAloud(found, shown) {
  const told = shown.slice(0, 30).map((each, i) => {
    const [first] = nearestTo(found, i, 1);
    return first ? `${each.name}: ${first[1].name}` : each.name;
  });
  return `Map of ${plural(shown.length, "language")}. The nearest of each: ${told.join(", ")}.`;
}

function mapRows(found) {
  const rows = [["language", "name", "family", "x", "y", "nearest", "distance"]];
  found.l.forEach((index, i) => {
    const { code, name, family } = languages[index];
    const [first] = nearestTo(found, i, 1);
    rows.push([code, name, family, ...found.p[i], first?.[1].code ?? "", first?.[0] ?? null]);
  });
  return rows;
}

let mapShown = null;
let redrawMap = () => {};

function startMap() {
  const place = byId("map-figure");
  if (!place) return;
  redrawMap = keepDrawn(place, {
    name: "language-map",
    title: "Map of languages",
    draw: (width) => (mapShown ? [drawMap(mapShown, width)] : []),
    rows: () => (mapShown ? mapRows(mapShown) : []),
    columns: 1,
    widest: 1100,
  });
}

function showMap(step) {
  if (!byId("map-figure")) return;
  const found = distancesOf(step);
  if (found === mapShown) return;
  mapShown = found;
  const system = systems[found.s];
  const many = plural(found.l.length, "language");
  byId("map-told").textContent =
    `${system.title}, ${sizeTitle(system)}: ${many}, coloured by family.`;
  redrawMap();
}
