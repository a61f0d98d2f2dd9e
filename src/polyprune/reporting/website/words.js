// Numbers as people read them. What is missing is a dash.
const NOTHING = "–";
const SPACE = "\u00a0";

const known = (value) => typeof value === "number" && Number.isFinite(value);

const fixed = (value, digits = 1) => (known(value) ? value.toFixed(digits) : NOTHING);

const percent = (share) =>
  known(share) ? `${Number((100 * share).toFixed(1))}${SPACE}%` : NOTHING;

const millions = (value, digits = 1) =>
  known(value) ? `${(value / 1e6).toFixed(digits)}${SPACE}M` : NOTHING;

// Large numbers with a letter, small ones with the digits that count.
function compact(value) {
  if (!known(value)) return NOTHING;
  const size = Math.abs(value);
  for (const [unit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ]) {
    if (size >= unit)
      return `${Number((value / (unit === 1e4 ? 1e3 : unit)).toPrecision(3))}${letter}`;
  }
  return value === 0 ? "0" : String(Number(value.toPrecision(4)));
}

// The same with three digits, and a space before the letter.
const spaced = (value) =>
  known(value) ? compact(Number(value.toPrecision(3))).replace(/([GMk])$/, `${SPACE}$1`) : NOTHING;

const signed = (value, digits = 1) => {
  if (!known(value)) return NOTHING;
  const told = Math.abs(value).toFixed(digits);
  if (Number(told) === 0) return `±${told}`;
  return value < 0 ? `−${told}` : `+${told}`;
};

const plural = (count, what) => `${count}${SPACE}${what}${count === 1 ? "" : "s"}`;

function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function mean(values) {
  const numbers = values.filter(known);
  return numbers.length ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
}

let ruler = null;

// How wide a text will be: needed before it is drawn, and no part of the page has to wait for it.
function widthOf(text, size = 12) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return 0.6 * size * text.length;
  ruler.font = `${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}
