// A few words beside what is pointed at or focused.
const tip = byId("tip");

function showTip(lines, x, y) {
  tip.replaceChildren(...lines.map((line, i) => html(i ? "div" : "b", { text: line })));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(
    Math.max(8, x + 14),
    Math.max(8, document.documentElement.clientWidth - width - 8),
  );
  const above = y - height - 12;
  tip.style.left = `${left}px`;
  tip.style.top = `${above < 8 ? y + 16 : above}px`;
}

function hideTip() {
  tip.hidden = true;
}

function tipOf(event) {
  const node = event.target.closest?.("[data-tip]");
  if (!node) return;
  const { left, top, width } = node.getBoundingClientRect();
  showTip([node.dataset.tip], left + width / 2, top);
}

document.addEventListener("pointerover", tipOf);
document.addEventListener("focusin", tipOf);
document.addEventListener(
  "pointerout",
  (event) => event.target.closest?.("[data-tip]") && hideTip(),
);
document.addEventListener("focusout", hideTip);
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
addEventListener("scroll", hideTip, { passive: true });

// A drawing whose marks can be pointed at, and walked through by the arrow keys.
// `marks` have x, y and lines to tell; `nearest` finds one by its place, where near is not it.
function tellMarks(drawing, marks, nearest = nearestMark) {
  if (!marks.length) return;
  const ring = svg("circle", { class: "pointer", r: 8 });
  ring.style.display = "none";
  drawing.append(ring);
  let current = -1;
  const tell = (index) => {
    current = index;
    const mark = marks[index];
    if (!mark) return leave();
    const box = drawing.getBoundingClientRect();
    const scale = box.width / Number(drawing.getAttribute("width"));
    ring.setAttribute("cx", mark.x);
    ring.setAttribute("cy", mark.y);
    ring.style.display = "";
    showTip(mark.lines, box.left + mark.x * scale, box.top + mark.y * scale);
  };
  const leave = () => {
    ring.style.display = "none";
    hideTip();
  };
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const scale = Number(drawing.getAttribute("width")) / box.width;
    tell(nearest(marks, (event.clientX - box.left) * scale, (event.clientY - box.top) * scale));
  });
  drawing.addEventListener("pointerleave", leave);
  drawing.addEventListener("blur", leave);
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const before = current < 0 && step < 0 ? 0 : current;
    tell((before + step + marks.length) % marks.length);
    say(marks[current].lines.join(", "));
  });
}

function nearestMark(marks, x, y) {
  let best = -1;
  let least = 30 ** 2;
  marks.forEach((mark, i) => {
    const distance = (mark.x - x) ** 2 + (mark.y - y) ** 2;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}

const spoken = html("div", { class: "unseen", "aria-live": "polite" });
document.body.append(spoken);

function say(text) {
  spoken.textContent = text;
}
