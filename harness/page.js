document.querySelectorAll("th").forEach(function (head) {
  head.tabIndex = 0;
  function sort() {
    const place = head.cellIndex, table = head.closest("table"), body = table.tBodies[0];
    const down = head.getAttribute("aria-sort") !== "descending";
    table.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = function (row) {
      const cell = row.cells[place], text = cell.dataset.sort || cell.textContent.trim();
      return text !== "" && !isNaN(parseFloat(text)) ? parseFloat(text) : text;
    };
    Array.from(body.rows).sort(function (a, b) {
      const x = key(a), y = key(b), sign = down ? -1 : 1;
      if (typeof x !== typeof y) { return typeof x === "number" ? -1 : 1; }
      return sign * (typeof x === "number" ? x - y : x.localeCompare(y));
    }).forEach(function (row) { body.appendChild(row); });
  }
  head.addEventListener("click", sort);
  head.addEventListener("keydown", function (event) {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
  });
});
