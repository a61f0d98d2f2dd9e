// Tables are sorted within their groups; what has no number stays last, whichever way.
function startTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) =>
      head.querySelector("button").addEventListener("click", () => sortTable(table, heads, column)),
    );
    table
      .closest(".table")
      .querySelector("[data-csv-of-table]")
      .addEventListener("click", () =>
        download(`${fileName(table.dataset.name)}.csv`, "text/csv", csv(tableRows(table))),
      );
  }
}

function sortTable(table, heads, column) {
  const head = heads[column];
  const rows = [...table.tBodies].flatMap((body) => dataRows(body));
  const numeric = rows.some((row) => row.cells[column].dataset.value !== undefined);
  // Numbers begin with the largest, names with A.
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const order = head.getAttribute("aria-sort") === first ? other : first;
  heads.forEach((each) => each.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  for (const body of table.tBodies) {
    const keyed = dataRows(body).map((row) => [keyOf(row.cells[column], numeric), row]);
    keyed.sort(([a], [b]) => compare(a, b, sign));
    body.append(...keyed.map(([, row]) => row));
  }
}

const dataRows = (body) => [...body.rows].filter((row) => !row.classList.contains("group"));

function keyOf(cell, numeric) {
  if (!numeric) return cell.textContent.trim() === NOTHING ? null : cell.textContent.trim();
  return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
}

function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
}

function tableRows(table) {
  const texts = (row) =>
    [...row.cells].map((cell) => cell.textContent.trim().replaceAll(SPACE, " "));
  const groups = table.querySelector("tr.group") !== null;
  const rows = [[...(groups ? ["Group"] : []), ...texts(table.tHead.rows[0])]];
  for (const body of table.tBodies) {
    const group = body.querySelector("tr.group")?.textContent.trim() ?? "";
    for (const row of dataRows(body)) rows.push([...(groups ? [group] : []), ...texts(row)]);
  }
  return rows;
}
