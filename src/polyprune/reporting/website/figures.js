// Figures are drawn when they come near the screen, and again when there is more or less room.
const waiting = new Map();
const toRedraw = [];
let seen = null;

function startFigures() {
  seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) waiting.get(entry.target)?.();
    },
    { rootMargin: "400px" },
  );
  for (const place of document.querySelectorAll("[data-figure]")) {
    const figure = data.figures[Number(place.dataset.figure)];
    const styles = stylesOf(figure);
    keepDrawn(place, {
      name: fileName(figure.name),
      title: figure.title,
      columns: figure.panels.length,
      widest: figure.panels.some((panel) => panel.kind === "matrix")
        ? 1100
        : figure.panels.length > 1
          ? 620
          : 860,
      draw: (width) =>
        figure.panels.map((panel) =>
          panel.kind === "plot" ? drawPlot(panel, width, styles) : drawMatrix(panel, width),
        ),
      rows: () => figureRows(figure),
    });
  }
  addEventListener("beforeprint", () => waiting.forEach((draw) => draw()));
}

// Draws into a figure, beside its buttons; gives a function that draws anew.
function keepDrawn(place, { name, title, columns, widest, draw, rows }) {
  const panels = place.querySelector(".panels");
  let drawnAt = 0;
  const redraw = () => {
    const width = roomFor(panels, columns, widest);
    drawnAt = panels.clientWidth;
    panels.replaceChildren(...draw(width));
  };
  const first = () => {
    waiting.delete(place);
    redraw();
    new ResizeObserver(() => Math.abs(panels.clientWidth - drawnAt) > 1 && redraw()).observe(
      panels,
    );
  };
  waiting.set(place, first);
  toRedraw.push(() => waiting.has(place) || redraw());
  place.append(
    html(
      "p",
      { class: "buttons" },
      html("button", {
        type: "button",
        class: "small",
        text: "CSV",
        "aria-label": `Download the data of ${title} as CSV`,
        "data-csv": true,
        onclick: () => download(`${name}.csv`, "text/csv", csv(rows())),
      }),
      html("button", {
        type: "button",
        class: "small",
        text: "SVG",
        "aria-label": `Download ${title} as SVG`,
        "data-svg": true,
        onclick: () => {
          if (waiting.has(place)) first();
          download(`${name}.svg`, "image/svg+xml", standalone([...panels.querySelectorAll("svg")]));
        },
      }),
    ),
  );
  seen.observe(place);
  return () => waiting.has(place) || redraw();
}

// As many columns as fit, with rows as equal as can be; then whole pixels for each.
function roomFor(panels, count, widest) {
  const gap = Number.parseFloat(getComputedStyle(panels).columnGap) || 0;
  const fit = Math.max(1, Math.min(count, Math.floor((panels.clientWidth + gap) / (300 + gap))));
  const across = Math.ceil(count / Math.ceil(count / fit)) || 1;
  panels.style.setProperty("--columns", across);
  const room = Math.floor((panels.clientWidth - gap * (across - 1)) / across);
  return Math.max(240, Math.min(widest, room));
}

// Series of one word have one colour in all panels; a family has its own everywhere.
function stylesOf(figure) {
  const words = [];
  for (const panel of figure.panels) {
    for (const each of panel.series ?? [])
      if (each.colour && !words.includes(each.colour)) words.push(each.colour);
  }
  return {
    placeOf: (series, index) => (series.colour ? words.indexOf(series.colour) : index),
  };
}

function figureRows(figure) {
  const rows = [];
  for (const panel of figure.panels) {
    if (panel.kind === "plot") {
      if (rows[0]?.[1] !== "series")
        rows.push(["panel", "series", "label", "x", "y", "low", "high", "left", "right"]);
      for (const each of panel.series) {
        each.x.forEach((x, i) =>
          rows.push([
            panel.title,
            each.title,
            each.labels?.[i] ?? "",
            x,
            each.y[i],
            each.low?.[i],
            each.high?.[i],
            each.left?.[i],
            each.right?.[i],
          ]),
        );
      }
    } else {
      rows.push(["panel", "one", "other", panel.label]);
      panel.names.forEach((one, i) =>
        panel.names.forEach((other, j) => rows.push([panel.title, one, other, panel.values[i][j]])),
      );
    }
  }
  return rows;
}
