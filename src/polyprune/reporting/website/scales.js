// From numbers to places: where an axis begins and ends, and what is written along it.
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough * 0.999) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  const within = decades > count ? [1] : decades > 2 ? [1, 3] : decades > 0.8 ? [1, 2, 5] : null;
  if (!within) return linearTicks(low, high, count);
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const each of within) {
      const tick = Number((each * 10 ** power).toPrecision(6));
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : [low, high];
}

// The ends of an axis: as asked for, else around its numbers, from zero where that costs little.
function ends(axis, values) {
  const numbers = [...values, ...axis.ticks].filter(
    (value) => known(value) && (!axis.log || value > 0),
  );
  let low = numbers.length ? Math.min(...numbers) : axis.log ? 1 : 0;
  let high = numbers.length ? Math.max(...numbers) : axis.log ? 10 : 1;
  if (axis.log) {
    const room = low === high ? 1.5 : (high / low) ** 0.05;
    [low, high] = [low / room, high * room];
  } else {
    if (low >= 0 && low <= 0.35 * high) low = 0;
    const room = low === high ? Math.abs(low) * 0.1 || 1 : 0.05 * (high - low);
    [low, high] = [low === 0 ? 0 : low - room, high + room];
  }
  return [known(axis.low) ? axis.low : low, known(axis.high) ? axis.high : high];
}

function scaleOf(axis, values, from, to, count) {
  const [low, high] = ends(axis, values);
  const turn = axis.log ? Math.log10 : (value) => value;
  const factor = (to - from) / (turn(high) - turn(low));
  const given = axis.ticks.filter((tick) => tick >= low && tick <= high);
  const ticks = given.length ? given : (axis.log ? logTicks : linearTicks)(low, high, count);
  const inside = (value) => known(value) && (!axis.log || value > 0);
  return { low, high, ticks, inside, at: (value) => from + (turn(value) - turn(low)) * factor };
}

// Ticks whose words would touch their neighbours' are left without words.
function tickWords(scale, horizontal) {
  let last = -Infinity;
  return scale.ticks.map((tick) => {
    const text = compact(tick).replace("-", "−");
    const place = scale.at(tick);
    const half = horizontal ? widthOf(text, 11) / 2 + 4 : 7;
    const place1 = horizontal ? place : -place;
    if (place1 - half < last) return [tick, ""];
    last = place1 + half;
    return [tick, text];
  });
}

// A text as lines that are not wider than there is room.
function wrapped(text, width, size) {
  const found = [];
  for (const word of text.split(/ +/)) {
    const longer = found.length ? `${found[found.length - 1]} ${word}` : word;
    if (found.length && widthOf(longer, size) <= width) found[found.length - 1] = longer;
    else found.push(word);
  }
  return found;
}
