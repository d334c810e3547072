// Tabs with one query each, stored in the browser, and the history of queries.

import { el } from "../lib/dom.js";
import { read, write } from "../lib/kept.js";

const mostTabs = 20;
const mostRuns = 50;

/**
 * A tab is {name, query, view, settings, request}. onOpen gets the tab that is opened; onUnkept is called once if the
 * browser does not store the tabs.
 */
export function makeTabs(host, { first, onOpen, onUnkept }) {
  let tabs = read("tabs", []).filter((t) => typeof t?.query === "string");
  let active = Math.min(read("tab", 0), Math.max(tabs.length - 1, 0));
  if (first.given) {
    const same = tabs.findIndex((t) => t.query.trim() === first.query.trim() && sameRequest(t.request, first.request));
    if (same >= 0) {
      active = same;
      Object.assign(tabs[same], { view: first.view, settings: first.settings });
    } else {
      tabs.push(tabOf(first, name(tabs)));
      active = tabs.length - 1;
    }
  }
  if (!tabs.length) tabs = [{ name: name(tabs), query: first.query }];
  if (tabs.length > mostTabs) {
    tabs = tabs.slice(-mostTabs);
    active = Math.min(active, tabs.length - 1);
  }

  const list = el("div.tabs", { role: "tablist", "aria-label": "Queries" });
  const plus = el("button.icon", { type: "button", title: "New query", "aria-label": "New query", onclick: () => add({ query: "" }) }, "+");
  const close = el("button.icon", { type: "button", title: "Close this query", "aria-label": "Close this query", onclick: () => remove(active) }, "×");
  host.replaceChildren(el("div.tabs", {}, list, plus, close));
  list.classList.remove("tabs");
  list.classList.add("tab-list");
  host.hidden = false;

  let unkept = false;
  function draw() {
    list.replaceChildren(
      ...tabs.map((tab, i) =>
        el("button", {
          type: "button", role: "tab", id: "tab-" + i, "aria-selected": String(i === active), "aria-controls": "editor", tabindex: i === active ? "0" : "-1",
          title: "Double click or F2 renames", onclick: () => open(i), ondblclick: () => rename(i), onkeydown: keys,
        }, tab.name),
      ),
    );
    close.disabled = tabs.length < 2;
    save();
  }
  function keys(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      open((active + step + tabs.length) % tabs.length);
      list.children[active].focus();
    } else if (event.key === "F2") rename(active);
    else if (event.key === "Delete") remove(active);
  }
  function save() {
    const kept = write("tabs", tabs) && write("tab", active);
    if (!kept && !unkept) onUnkept();
    unkept = !kept;
  }
  function open(i) {
    active = i;
    draw();
    onOpen(tabs[i]);
  }
  function add(tab) {
    tabs.push(tabOf(tab, name(tabs)));
    open(tabs.length - 1);
  }
  function remove(i) {
    if (tabs.length < 2) return;
    tabs.splice(i, 1);
    open(Math.min(i, tabs.length - 1));
  }
  function rename(i, given = prompt("Name of this query", tabs[i].name)) {
    if (given?.trim()) {
      tabs[i].name = given.trim().slice(0, 60);
      draw();
    }
  }
  draw();
  return {
    current: () => tabs[active],
    /** Changes the present tab. */
    keep(changes) {
      Object.assign(tabs[active], changes);
      save();
    },
    /** Names the present tab. */
    rename: (name) => rename(active, name),
    add,
  };
}

const tabOf = ({ name, query, view, settings, request }, otherwise) => ({ name: name || otherwise, query, view, settings, request: plain(request) });

// A request without choices is none.
const plain = (request) => (request && Object.values(request).some((v) => v?.length) ? request : undefined);
const sameRequest = (a, b) => JSON.stringify(plain(a)) === JSON.stringify(plain(b));

function name(tabs) {
  for (let n = 1; ; n++) if (!tabs.some((t) => t.name === "Query " + n)) return "Query " + n;
}

/** Remembers a run; the newest comes first, each query once. */
export function remember(run) {
  const runs = read("history", []).filter((r) => r.query !== run.query);
  write("history", [run, ...runs].slice(0, mostRuns));
}

export const runs = () => read("history", []);
