// The view of a pivot: choices, a table with headers for its rows and columns, and the whole of it as CSV.

import { el } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { saveText } from "../lib/save.js";
import { aggregates, csvOf, firstSettings, keyText, pivot } from "./pivot.js";

const rowsShown = 500;
const columnsShown = 50;

const names = { count: "Count", sum: "Sum", mean: "Mean", min: "Minimum", max: "Maximum" };

export const canPivot = (result) => result.rows.length > 1;

/** settings are those of an address ({by, across, value, aggregate}), null for none; onSettings gets what is chosen. */
export function pivotView(result, { settings, onSettings }) {
  const chosen = fitting(settings, result) || firstSettings(result);
  const node = el("div.pivot");
  const body = el("div");
  const choice = (label, options, name) => el("label", {}, label + " ", el("select", {
    onchange: (event) => {
      chosen[name] = name === "aggregate" ? event.target.value : Number(event.target.value);
      if (chosen.value < 0 && chosen.aggregate !== "count") chosen[name === "value" ? "aggregate" : "value"] = name === "value" ? "count" : Math.max(firstSettings(result).value, 0);
      onSettings({ ...chosen });
      draw();
    },
  }, ...options.map(([value, text]) => el("option", { value: String(value), selected: value === chosen[name] }, text))));
  const columns = result.vars.map((v, i) => [i, v]);
  function draw() {
    const table = pivot(result.rows, chosen);
    const total = "All";
    const title = `${names[chosen.aggregate]} of ${chosen.value < 0 ? "rows" : result.vars[chosen.value]} by ${result.vars[chosen.by]}${chosen.across < 0 ? "" : " and " + result.vars[chosen.across]}`;
    const note = el("span.quiet", { role: "status" });
    const save = () => {
      const csv = csvOf(table, { corner: result.vars[chosen.by], total });
      if (csv === null) note.textContent = "This pivot has too many cells for a file. Choose columns with fewer values.";
      else saveText(csv, "pivot.csv", "text/csv");
    };
    const toolbar = el("div.toolbar", {},
      choice("Rows", columns, "by"), choice("Columns", [[-1, "(none)"], ...columns], "across"),
      choice("Show", aggregates.map((a) => [a, names[a].toLowerCase()]), "aggregate"), choice("of", [[-1, "rows"], ...columns], "value"),
      el("button.link", { type: "button", onclick: save }, "CSV of this pivot"), note);
    // Selects are made anew, so that they agree with each other; the one in use keeps the focus.
    const used = [...node.querySelectorAll("select")].indexOf(document.activeElement);
    body.replaceChildren(tableOf(table, chosen, result.vars, title, total), ...notesOn(table));
    node.replaceChildren(toolbar, body);
    if (used >= 0) node.querySelectorAll("select")[used].focus();
  }
  draw();
  return node;
}

// fitting gives settings that the columns of a result allow, null if they do not.
function fitting(settings, { vars }) {
  if (!settings) return null;
  const { by, across, value, aggregate } = settings;
  const within = (i, least) => Number.isInteger(i) && i >= least && i < vars.length;
  if (!within(by, 0) || !within(across, -1) || !within(value, -1) || !aggregates.includes(aggregate) || (value < 0 && aggregate !== "count")) return null;
  return { by, across, value, aggregate };
}

function tableOf(table, { by, across }, vars, title, total) {
  const rows = table.rows.slice(0, rowsShown);
  const columns = table.columns.slice(0, columnsShown);
  const head = (words, scope) => el("th", { scope, title: words.length > 60 ? words : null }, words.length > 60 ? words.slice(0, 59) + "…" : words);
  const number = (value) => el("td.n", {}, value === null ? "" : grouped(value));
  const heads = el("thead", {},
    across < 0 ? "" : el("tr", {}, el("td"), el("th", { scope: "colgroup", colspan: String(columns.length + 1) }, vars[across])),
    el("tr", {}, head(vars[by], "col"), ...columns.map((c) => head(keyText(c), "col")), head(total, "col")));
  const line = (name, r) => el(r < 0 ? "tr.total" : "tr", {}, head(name, "row"), ...columns.map((_, c) => number(table.cell(r, c))), number(table.cell(r, -1)));
  return el("div.scroll.pivot-table", { tabindex: "0", role: "region", "aria-label": "Pivot" },
    el("table", {}, el("caption", {}, title), heads, el("tbody", {}, ...rows.map((key, r) => line(keyText(key), r)), line(total, -1))));
}

// Groups the digits of a number as the pages do, and shortens what a division made long; other text stays as it is.
function grouped(value) {
  const m = /^(-?)(\d+)(\.\d+)?$/.exec(value);
  if (!m) return value.length > 60 ? value.slice(0, 59) + "…" : value;
  if (m[3]?.length > 12) return grouped(String(Number(Number(value).toPrecision(12))));
  return m[1] + count(m[2]) + (m[3] || "");
}

function notesOn({ rows, columns, left, beyond }) {
  const notes = [];
  if (rows.length > rowsShown || columns.length > columnsShown)
    notes.push(`The table shows ${count(Math.min(rows.length, rowsShown))} of ${count(rows.length)} rows${columns.length ? ` and ${count(Math.min(columns.length, columnsShown))} of ${count(columns.length)} columns` : ""}; the totals are over all, and the CSV has all.`);
  if (left) notes.push(`${count(left)} ${left === 1 ? "value is no number and is" : "values are no numbers and are"} left out.`);
  if (beyond) notes.push(`${count(beyond)} rows belong to further groups and are left out.`);
  return notes.map((note) => el("p.quiet", {}, note));
}
