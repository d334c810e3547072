// The answer, and the views to choose from.

import { debounce, el } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { formats, graphFormats, save } from "./answer.js";
import { makeGrid } from "./grid.js";
import { canChart, canMap, canTimeline, chart, map, timeline } from "./views.js";

const rawShown = 500_000; // characters of raw text shown

export function showResults(host, result, { query, base, onError }) {
  if (result.kind === "boolean") {
    host.replaceChildren(el("p.empty", {}, result.value ? "Yes." : "No."));
    return;
  }
  if (result.kind === "text") {
    host.replaceChildren(el("div.toolbar", {}, el("span.right", {}, downloads(query, graphFormats, onError))), raw(result));
    return;
  }
  const grid = makeGrid(result, base);
  const filter = el("input.filter", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
  const note = el("span.quiet", { role: "status" });
  filter.addEventListener("input", debounce(120, () => {
    const n = grid.filter(filter.value);
    note.textContent = filter.value ? `${count(n)} of ${count(result.rows.length)}` : "";
  }));
  const views = [
    ["Table", () => grid.node],
    canChart(result) && ["Chart", () => chart(result)],
    canTimeline(result) && ["Timeline", () => timeline(result)],
    canMap(result) && ["Map", () => map(result)],
    ["Raw", () => raw(result)],
  ].filter(Boolean);
  const body = el("div");
  const buttons = views.map(([name, make]) => el("button", { type: "button", "aria-pressed": "false", onclick: (e) => choose(e.currentTarget, name, make) }, name));
  function choose(button, name, make) {
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
    body.replaceChildren(make());
    filter.hidden = name !== "Table";
    if (name === "Table") grid.show();
  }
  host.replaceChildren(
    el("div.toolbar", {}, el("div.views", { role: "group", "aria-label": "View" }, ...buttons), filter, note, el("span.right", {}, downloads(query, formats, onError))),
    body,
  );
  choose(buttons[0], ...views[0]);
}

function raw(result) {
  const text = result.raw.length > rawShown ? result.raw.slice(0, rawShown) + "\n… (download to see all)" : result.raw;
  return el("pre.source", { tabindex: "0", role: "region", "aria-label": "The answer as the server sent it" }, el("code", {}, text));
}

function downloads(query, list, onError) {
  const span = el("span.toolbar", {}, el("span.quiet", {}, "Download"));
  span.append(...list.map((format) => el("button.link", { type: "button", onclick: () => save(query, format).catch(onError) }, format[0])));
  return span;
}
