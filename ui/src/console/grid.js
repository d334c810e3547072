// The result table. Only visible rows are in the page, so a hundred thousand rows scroll like ten.

import { el } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { address, compare, full, isNumber, text } from "./terms.js";

const rowHeight = 29;
const spare = 12; // rows rendered above and below the view

export function makeGrid(result, base) {
  const { vars, rows } = result;
  let order = rows.map((_, i) => i);
  let sorted = { column: -1, down: false };
  let filter = "";
  let texts = null; // lower-case text of each row, computed for the first filter

  const top = el("tr.space", {}, el("td", { colspan: String(vars.length + 1) }));
  const bottom = el("tr.space", {}, el("td", { colspan: String(vars.length + 1) }));
  const body = el("tbody");
  const heads = vars.map((name, column) => el("th", { scope: "col" }, el("button", { type: "button", onclick: () => sort(column) }, name)));
  const table = el("table", { "aria-rowcount": String(rows.length + 1) }, el("thead", {}, el("tr", { "aria-rowindex": "1" }, el("th.index", { scope: "col" }, el("span.sr", {}, "Row")), ...heads)), body);
  const node = el("div.grid", { tabindex: "0", role: "region", "aria-label": "Results" }, table);
  node.style.setProperty("--columns", String(vars.length)); // columns share the width
  let drawn = [-1, -1];
  node.addEventListener("scroll", () => draw(false), { passive: true });

  function sort(column) {
    sorted = { column, down: sorted.column === column && !sorted.down };
    heads.forEach((h, i) => (i === column ? h.setAttribute("aria-sort", sorted.down ? "descending" : "ascending") : h.removeAttribute("aria-sort")));
    arrange();
  }
  function arrange() {
    order = rows.map((_, i) => i);
    if (filter) {
      texts ??= rows.map((row) => row.map(text).join("\u0000").toLowerCase());
      const words = filter.toLowerCase().split(/\s+/);
      order = order.filter((i) => words.every((w) => texts[i].includes(w)));
    }
    if (sorted.column >= 0) {
      const c = sorted.column;
      order.sort((a, b) => compare(rows[a][c], rows[b][c]) || a - b);
      if (sorted.down) order.reverse();
    }
    node.scrollTop = 0;
    draw(true);
  }
  function draw(again) {
    const height = node.clientHeight || 600;
    const from = Math.max(0, Math.floor(node.scrollTop / rowHeight) - spare);
    const to = Math.min(order.length, from + Math.ceil(height / rowHeight) + 2 * spare);
    if (!again && from === drawn[0] && to === drawn[1]) return;
    drawn = [from, to];
    top.firstChild.height = String(from * rowHeight);
    bottom.firstChild.height = String((order.length - to) * rowHeight);
    const lines = [];
    for (let i = from; i < to; i++) lines.push(line(order[i], i));
    body.replaceChildren(top, ...lines, bottom);
  }
  function line(index, place) {
    return el("tr", { "aria-rowindex": String(place + 2) }, el("td.index", {}, count(index + 1)), ...rows[index].map(cell));
  }
  function cell(term) {
    if (!term) return el("td.unbound", { title: "unbound" });
    const shown = text(term);
    const href = address(term, base);
    return el(isNumber(term) ? "td.n" : "td", { title: full(term) }, href ? el("a", { href }, shown) : shown);
  }
  return {
    node,
    /** After node is in the page. */
    show: () => draw(true),
    filter(words) {
      filter = words.trim();
      arrange();
      return order.length;
    },
  };
}
