// The answer, and the views to choose from.

import { debounce, el } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { formats, graphFormats, save } from "./answer.js";
import { makeGrid } from "./grid.js";
import { canMap, map } from "./map.js";
import { canPivot, pivotView } from "./pivotview.js";
import { canChart, canTimeline, chart, timeline } from "./views.js";

const rawShown = 500_000; // characters of raw text shown

/**
 * Shows a result. tab has the query, its request, and the view to begin with; onView gets the name and the settings of each
 * view that is chosen.
 */
export function showResults(host, result, { tab, base, world, onError, onView }) {
  const { query, request } = tab;
  if (result.kind === "boolean") {
    host.replaceChildren(el("p.empty", {}, result.value ? "Yes." : "No."));
    return;
  }
  if (result.kind === "text") {
    host.replaceChildren(el("div.toolbar", {}, el("span.right", {}, downloads(query, request, graphFormats, onError))), raw(result));
    return;
  }
  const grid = makeGrid(result, base);
  const filter = el("input.filter", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
  const note = el("span.quiet", { role: "status" });
  filter.addEventListener("input", debounce(120, () => {
    const n = grid.filter(filter.value);
    note.textContent = filter.value ? `${count(n)} of ${count(result.rows.length)}` : "";
  }));
  let settings = tab.view === "Pivot" ? tab.settings : null;
  const views = [
    ["Table", () => grid.node],
    canChart(result) && ["Chart", () => chart(result)],
    canTimeline(result) && ["Timeline", () => timeline(result)],
    canMap(result) && ["Map", () => map(result, { base, world })],
    canPivot(result) && ["Pivot", () => pivotView(result, { settings, onSettings: (s) => onView("Pivot", (settings = s)) })],
    ["Raw", () => raw(result)],
  ].filter(Boolean);
  const body = el("div");
  const buttons = views.map(([name], i) => el("button", { type: "button", "aria-pressed": "false", onclick: () => (choose(i), onView(name, name === "Pivot" ? settings : null)) }, name));
  function choose(i) {
    const [name, make] = views[i];
    buttons.forEach((b, j) => b.setAttribute("aria-pressed", String(i === j)));
    body.replaceChildren(make());
    filter.hidden = name !== "Table";
    if (name === "Table") grid.show();
  }
  host.replaceChildren(
    el("div.toolbar", {}, el("div.views", { role: "group", "aria-label": "View" }, ...buttons), filter, note, el("span.right", {}, downloads(query, request, formats, onError))),
    body,
  );
  choose(Math.max(views.findIndex(([name]) => name === tab.view), 0));
}

function raw(result) {
  const text = result.raw.length > rawShown ? result.raw.slice(0, rawShown) + "\n… (download to see all)" : result.raw;
  return el("pre.source", { tabindex: "0", role: "region", "aria-label": "The answer as the server sent it" }, el("code", {}, text));
}

function downloads(query, request, list, onError) {
  const span = el("span.toolbar", {}, el("span.quiet", {}, "Download"));
  span.append(...list.map((format) => el("button.link", { type: "button", onclick: () => save(query, format, request).catch(onError) }, format[0])));
  return span;
}
