// Which languages are looked at: by name, by family, all or none.
function startChooser(state, changed) {
  const place = byId("families");
  if (!place) return () => {};
  const boxes = new Map();
  const groups = familiesOf(languages).map(([family, own]) =>
    familyGroup(family, own, state, boxes, changed),
  );
  place.append(...groups.map((group) => group.node));
  byId("choose-all").addEventListener("click", () => choose(languages.map((each) => each.index)));
  byId("choose-none").addEventListener("click", () => choose([]));
  byId("search").addEventListener("input", (event) => search(event.target.value, boxes, groups));
  byId("chooser").open = languages.length <= 24 && innerWidth > 700;
  function choose(indices) {
    state.chosen = new Set(indices);
    changed();
  }
  return () => showChosen(state, boxes, groups);
}

function familiesOf(all) {
  const found = new Map();
  for (const each of all) {
    if (!found.has(each.family)) found.set(each.family, []);
    found.get(each.family).push(each);
  }
  for (const own of found.values()) own.sort((a, b) => a.name.localeCompare(b.name, "en"));
  return [...found].sort((a, b) => hueOf(a[0]) - hueOf(b[0]) || b[1].length - a[1].length);
}

function familyGroup(family, own, state, boxes, changed) {
  const all = html("input", { type: "checkbox", "aria-label": `All ${family} languages` });
  all.addEventListener("change", () => {
    for (const each of own) state.chosen[all.checked ? "add" : "delete"](each.index);
    changed();
  });
  const chips = own.map((each) => {
    const box = html("input", { type: "checkbox", value: each.code });
    box.addEventListener("change", () => {
      state.chosen[box.checked ? "add" : "delete"](each.index);
      changed();
    });
    const chip = html("label", { class: "chip" }, box, html("span", { text: each.name }));
    boxes.set(each.index, { box, chip, text: `${each.name} ${each.code} ${family}`.toLowerCase() });
    return chip;
  });
  const head = hued(
    html(
      "label",
      { class: "family" },
      all,
      html("span", { class: "swatch" }),
      html("span", { text: family }),
    ),
    hueOf(family),
  );
  const node = html(
    "div",
    { class: "family-group", role: "group", "aria-label": family },
    head,
    html("div", { class: "chips" }, ...chips),
  );
  return { node, all, own };
}

function search(words, boxes, groups) {
  const wanted = words.trim().toLowerCase();
  for (const { chip, text } of boxes.values()) chip.hidden = !text.includes(wanted);
  for (const { node, own } of groups)
    node.hidden = own.every((each) => boxes.get(each.index).chip.hidden);
}

function showChosen(state, boxes, groups) {
  for (const [index, { box }] of boxes) box.checked = state.chosen.has(index);
  for (const { all, own } of groups) {
    const count = own.filter((each) => state.chosen.has(each.index)).length;
    all.checked = count === own.length;
    all.indeterminate = count > 0 && count < own.length;
  }
  byId("chosen-languages").textContent = chosenTold(state.chosen);
}

function chosenTold(chosen) {
  if (chosen.size === languages.length)
    return languages.length === 1 ? languages[0].name : `all ${chosen.size}`;
  if (!chosen.size) return "none";
  if (chosen.size <= 4)
    return listed([...chosen].sort((a, b) => a - b).map((index) => languages[index].name));
  return `${chosen.size} of ${languages.length}`;
}
