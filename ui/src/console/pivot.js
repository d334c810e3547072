// Pivots rows of terms: groups by one or two columns, and aggregates the values of a third.

import { compare, full, isNumber, text } from "./terms.js";

export const aggregates = ["count", "sum", "mean", "min", "max"];

const mostKeys = 100_000; // groups of one column; rows of further groups are counted, not shown

/**
 * Pivots rows: by gives the index of the column whose values become rows, across that of columns (-1 for none), value that
 * of the values (-1 for the rows themselves, which can only be counted).
 *
 * Gives {rows, columns, cell(r, c), left, beyond}: keys as terms in order, the aggregate of a cell (null for none), where
 * r or c is -1 for all rows or all columns together, how many values left out because they are not numbers, and rows
 * beyond the limit of groups.
 */
export function pivot(rows, { by, across, value, aggregate }) {
  const down = new Groups();
  const over = new Groups();
  const cells = new Map(); // "r c" -> Tally
  const tally = (r, c) => {
    const key = r + " " + c;
    let t = cells.get(key);
    if (!t) cells.set(key, (t = new Tally()));
    return t;
  };
  const numbers = aggregate === "sum" || aggregate === "mean";
  let left = 0;
  let beyond = 0;
  for (const row of rows) {
    const r = down.of(row[by]);
    const c = across < 0 ? 0 : over.of(row[across]);
    if (r < 0 || c < 0) {
      beyond++;
      continue;
    }
    const term = value < 0 ? null : row[value];
    if (value >= 0 && !term) continue; // unbound
    if (numbers && !decimalOf(term)) {
      left++;
      continue;
    }
    for (const [i, j] of across < 0 ? [[r, -1], [-1, -1]] : [[r, c], [r, -1], [-1, c], [-1, -1]]) tally(i, j).add(term, aggregate);
  }
  const rowOrder = down.order();
  const columnOrder = across < 0 ? [] : over.order();
  return {
    rows: rowOrder.map((i) => down.terms[i]),
    columns: columnOrder.map((i) => over.terms[i]),
    cell: (r, c) => cells.get((r < 0 ? -1 : rowOrder[r]) + " " + (c < 0 ? -1 : columnOrder[c]))?.result(aggregate) ?? (aggregate === "count" ? "0" : null),
    left,
    beyond,
  };
}

class Groups {
  terms = [];
  #index = new Map();

  of(term) {
    const key = term ? term.type + full(term) : "";
    let i = this.#index.get(key);
    if (i === undefined) {
      if (this.terms.length >= mostKeys) return -1;
      i = this.terms.push(term) - 1;
      this.#index.set(key, i);
    }
    return i;
  }

  order() {
    return this.terms.map((_, i) => i).sort((a, b) => compare(this.terms[a], this.terms[b]) || a - b);
  }
}

// A number as an integer and a count of decimal places, so that sums of decimals are exact; {float} for other numbers.
function decimalOf(term) {
  if (!term || (term.type !== "literal" && term.type !== "typed-literal")) return null;
  const value = term.value.trim();
  const m = /^([-+]?)(\d{0,60})(?:\.(\d{0,60}))?$/.exec(value);
  if (m && (m[2] || m[3])) return { digits: BigInt(m[1] === "-" ? "-" + (m[2] || "") + (m[3] || "") : (m[2] || "") + (m[3] || "")), places: (m[3] || "").length };
  const float = value === "" || !/\d/.test(value) || /^0[xob]/i.test(value) ? NaN : Number(value);
  return Number.isFinite(float) ? { float } : null;
}

class Tally {
  #n = 0;
  #digits = 0n;
  #places = 0;
  #float = 0;
  #exact = true;
  #min;
  #max;

  add(term, aggregate) {
    this.#n++;
    if (aggregate === "sum" || aggregate === "mean") this.#sum(decimalOf(term));
    else if (aggregate !== "count") {
      if (!this.#min || order(term, this.#min) < 0) this.#min = term;
      if (!this.#max || order(term, this.#max) > 0) this.#max = term;
    }
  }

  #sum({ digits, places, float }) {
    if (float !== undefined) {
      this.#exact = false;
      this.#float += float;
      return;
    }
    if (places > this.#places) {
      this.#digits *= 10n ** BigInt(places - this.#places);
      this.#places = places;
    }
    this.#digits += digits * 10n ** BigInt(this.#places - places);
  }

  result(aggregate) {
    switch (aggregate) {
      case "count":
        return String(this.#n);
      case "sum":
        return this.#exact ? decimal(this.#digits, this.#places) : String(this.#float + Number(decimal(this.#digits, this.#places)));
      case "mean":
        return String((this.#float + Number(decimal(this.#digits, this.#places))) / this.#n);
      case "min":
        return text(this.#min);
      case "max":
        return text(this.#max);
    }
  }
}

// Numbers are compared as numbers even where the answer does not type them, as in CSV of any portal.
function order(a, b) {
  if (isNumber(a) && isNumber(b)) return compare(a, b);
  const x = decimalOf(a), y = decimalOf(b);
  if (x && y) return Number(a.value) - Number(b.value);
  return compare(a, b);
}

function decimal(digits, places) {
  if (!places) return String(digits);
  const s = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
  const cut = (s.slice(0, -places) + "." + s.slice(-places)).replace(/\.?0+$/, "");
  return (digits < 0n && cut !== "0" ? "-" : "") + cut;
}

const mostCells = 2_000_000; // of a CSV

/** The whole pivot as CSV (RFC 4180), or null if it has too many cells. */
export function csvOf(table, { corner, total }) {
  const { rows, columns } = table;
  if ((rows.length + 2) * (columns.length + 2) > mostCells) return null;
  const columnIndexes = columns.map((_, c) => c);
  const line = (cells) => cells.map(quoted).join(",") + "\r\n";
  let out = line([corner, ...columns.map(keyText), total]);
  for (let r = 0; r < rows.length; r++) out += line([keyText(rows[r]), ...columnIndexes.map((c) => table.cell(r, c) ?? ""), table.cell(r, -1) ?? ""]);
  return out + line([total, ...columnIndexes.map((c) => table.cell(-1, c) ?? ""), table.cell(-1, -1) ?? ""]);
}

export const keyText = (term) => (term ? text(term) : "(unbound)");

const quoted = (s) => (/[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s);

/** The settings that a result begins with: rows by what repeats, columns by another that has few values. */
export function firstSettings({ vars, rows }) {
  const looked = rows.slice(0, 2000);
  const kinds = vars.map((_, i) => new Set(looked.map((row) => full(row[i]))).size);
  const numeric = vars.map((_, i) => looked.some((row) => row[i]) && looked.every((row) => !row[i] || decimalOf(row[i])));
  const groups = vars.map((_, i) => i).filter((i) => !numeric[i] && kinds[i] < looked.length);
  const by = groups[0] ?? Math.max(numeric.indexOf(false), 0);
  const across = groups.find((i) => i !== by && kinds[i] <= 30) ?? -1;
  const value = numeric.findIndex((yes, i) => yes && i !== by && i !== across);
  return { by, across, value, aggregate: value < 0 ? "count" : "sum" };
}
