// The panel of saved queries: save the present one, open, rename, remove, share, and files with all of them.

import { el } from "../lib/dom.js";
import { saveText } from "../lib/save.js";
import { exported, imported, largestFile, list, longestName, remove, rename, save, Unsaved } from "./saved.js";

/**
 * Gives {button, panel}. current gives the present tab, open opens a saved query as a tab, share copies its address, onSaved
 * gets the name under which the present query was saved.
 */
export function makeSaved({ current, open, share, onSaved }) {
  const says = el("span.status", { role: "status" });
  const name = el("input", { type: "text", maxlength: String(longestName), autocomplete: "off", required: true });
  const entries = el("ul");
  const file = el("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": "File of queries", onchange: () => load() });
  const form = el("form.save", { onsubmit: (event) => (event.preventDefault(), keep()) },
    el("label", {}, "Save this query as ", name), el("button.plain", { type: "submit" }, "Save"));
  const button = (text, about, onclick) => el("button.link", { type: "button", "aria-label": about, onclick }, text);
  const panel = el("section.saved", { hidden: true, "aria-label": "Saved queries", onkeydown: (e) => e.key === "Escape" && (toggle(false), opener.focus()) },
    form, entries,
    el("p.files", {}, button("Export to a file", null, () => saveText(exported(), "queries.json", "application/json")), button("Import a file", null, () => file.click()), file, says));
  const opener = el("button.plain", { type: "button", "aria-expanded": "false", onclick: () => toggle(panel.hidden) }, "Saved");

  function toggle(shown) {
    panel.hidden = !shown;
    opener.setAttribute("aria-expanded", String(shown));
    if (!shown) return;
    says.replaceChildren();
    name.value = current().name;
    draw();
    name.focus();
  }
  // attempt does what may fail for a reason that is the person's to know.
  function attempt(act) {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof Unsaved)) throw error;
      says.replaceChildren(error.message);
      return undefined;
    }
  }
  function keep() {
    const { query, view, settings, request } = current();
    const replaces = list().some((q) => q.name === name.value.trim());
    const as = attempt(() => save({ name: name.value, query, view, settings, request }));
    if (!as) return;
    says.replaceChildren(`“${as}” is saved in this browser${replaces ? ", in place of the one before" : ""}.`);
    onSaved(as);
    draw();
  }
  async function load() {
    const [chosen] = file.files;
    if (!chosen) return;
    const text = chosen.size > largestFile ? null : await chosen.text();
    file.value = "";
    if (text === null) return says.replaceChildren("This file is too large for a list of queries.");
    const n = attempt(() => imported(text));
    if (n === undefined) return;
    says.replaceChildren(n ? `${n} ${n === 1 ? "query is" : "queries are"} new.` : "All queries of this file were here already.");
    draw();
  }
  function draw() {
    const all = list();
    entries.replaceChildren(...(all.length ? all.map(line) : [el("li.quiet", {}, "No query is saved in this browser yet.")]));
  }
  function line(query) {
    const node = el("li", {},
      el("button.link.name", { type: "button", title: query.query.slice(0, 500), onclick: () => open(query) }, query.name),
      el("span.acts", {},
        button("Copy address", `Copy address of ${query.name}`, () => share(query)),
        button("Rename", `Rename ${query.name}`, () => edit(node, query)),
        button("Remove", `Remove ${query.name}`, () => drop(query))));
    return node;
  }
  function edit(node, query) {
    const field = el("input", { type: "text", value: query.name, maxlength: String(longestName), "aria-label": `New name of ${query.name}` });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      draw();
    });
    const done = (event) => {
      event.preventDefault();
      const as = attempt(() => rename(query.name, field.value));
      if (!as) return;
      says.replaceChildren(`Now “${as}”.`);
      draw();
    };
    node.replaceChildren(el("form", { onsubmit: done }, field, el("button.plain", { type: "submit" }, "Rename")));
    field.focus();
    field.select();
  }
  function drop(query) {
    const gone = attempt(() => remove(query.name));
    if (!gone) return;
    const undo = button("Undo", `Undo: keep ${gone.name}`, () => (attempt(() => save(gone)), says.replaceChildren(`“${gone.name}” is here again.`), draw()));
    says.replaceChildren(`“${gone.name}” is removed. `, undo);
    draw();
    undo.focus();
  }
  addEventListener("storage", () => panel.hidden || draw()); // another window has changed the list
  return { button: opener, panel };
}
