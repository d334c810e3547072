// A click on a column's head sorts a table with data-sortable. Cells with sizes have the number in data-value.

import { el } from "../lib/dom.js";

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export function sortable(root) {
  for (const table of root.querySelectorAll("table[data-sortable]")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.querySelector(".sr") || !head.textContent.trim()) return;
      const button = el("button.sort", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending" || (head.classList.contains("n") && !head.hasAttribute("aria-sort"));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const value = (row) => {
          const cell = row.cells[column];
          return cell.dataset.value ?? cell.querySelector("time")?.dateTime ?? cell.textContent.replace(/(\d)\u202f(?=\d)/g, "$1").trim();
        };
        const rows = [...body.rows].sort((a, b) => collator.compare(value(a), value(b)));
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  }
}
