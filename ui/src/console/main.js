// The console: tabs, editor, run and cancel, the zip of the answer's files, results. Without it the page is a plain form.

import { debounce, el } from "../lib/dom.js";
import { count, seconds } from "../lib/format.js";
import { root as home } from "../lib/root.js";
import { download, plan, planText } from "../lib/zip.js";
import { ask, explain } from "./answer.js";
import { makeEditor } from "./editor.js";
import { ownAddress, readAddress, yasguiAddress } from "./links.js";
import { menu } from "./menu.js";
import { showResults } from "./results.js";
import { makeSaved } from "./savedpanel.js";
import { explained, notesOn, question, trial } from "./shared.js";
import { makeTabs, remember, runs } from "./tabs.js";
import { setBase, setPrefixes } from "./terms.js";

export function openConsole(root) {
  const form = root.querySelector("[data-form]");
  const area = form.querySelector("textarea");
  const status = root.querySelector("[data-status]");
  const results = root.querySelector("[data-results]");
  const notes = el("div.notes");
  const unkept = el("p.quiet", { role: "status" });
  results.before(unkept, notes);
  const panels = new WeakMap(); // tab -> its answer, status, and what of its address is ignored
  const panel = () => {
    const tab = tabs.current();
    if (!panels.has(tab)) panels.set(tab, { node: el("div"), status: "", bad: false });
    return panels.get(tab);
  };
  const say = (at, words, bad = false) => {
    at.status = words;
    at.bad = bad;
    if (at !== panel()) return;
    status.textContent = words;
    status.classList.toggle("bad", bad);
  };
  const run = root.querySelector("[data-run]");
  const zip = root.querySelector("[data-zip-query]");
  const examples = JSON.parse(root.dataset.examples);
  const endpoint = location.origin + home + "/sparql";
  const ours = [endpoint, root.dataset.base + "sparql"];
  setBase(root.dataset.base);
  const words = { prefixes: {}, classes: [], predicates: [] };
  fetch(home + "/completion.json")
    .then((r) => r.json())
    .then((w) => (Object.assign(words, w), setPrefixes(w.prefixes)))
    .catch(() => {}); // the editor works without completion

  const opened = readAddress(location, ours);
  const host = el("div.editor", { id: "editor", role: "tabpanel", "aria-label": "Query" });
  const lines = Math.max((opened?.query ?? area.value).split("\n").length, 7);
  host.style.height = `${Math.min(lines * 22.5 + 28, 460)}px`;
  area.hidden = true;
  area.before(host);
  form.querySelector("label").remove();
  let editor;
  const tabs = makeTabs(root.querySelector("[data-tabs]"), {
    first: opened ? { ...opened, given: true } : { query: area.value },
    onOpen: (tab) => {
      const here = panel();
      results.replaceChildren(here.node);
      say(here, here.status, here.bad);
      editor.open(tab.query);
      note();
      measure();
    },
    onUnkept: () => unkept.replaceChildren("This browser stores nothing more: its storage is full or forbidden. The queries of this page are gone when it is closed."),
  });
  editor = makeEditor(host, { text: tabs.current().query, words, onRun: () => start(), onChange: changed });

  function note() {
    const everywhere = () => {
      tabs.keep({ request: { ...tabs.current().request, defaultGraphs: undefined, namedGraphs: undefined } });
      note();
      measure();
    };
    notes.replaceChildren(...notesOn(tabs.current(), panel().ignored, everywhere));
  }

  // Run and cancel share a button, so that a second click cannot start a second query.
  let running = null;
  function start(timeout) {
    if (running) return;
    const query = editor.text();
    const tab = tabs.current();
    const here = panel();
    running = new AbortController();
    const begun = performance.now();
    const tick = setInterval(() => say(here, "Running, " + seconds(performance.now() - begun)), 100);
    say(here, "Running");
    run.textContent = "Cancel";
    editor.mark(null);
    ask(query, { signal: running.signal, timeout, request: tab.request })
      .then((result) => {
        const got = performance.now();
        showResults(here.node, result, {
          tab: { ...tab, query }, base: root.dataset.base, world: home + root.dataset.world, onError: (error) => failed(error, here),
          onView: (view, settings) => {
            tabs.keep({ view, settings: settings || undefined });
            keepAddress(tabs.current());
          },
        });
        const drawn = performance.now();
        results.dataset.drawn = String(Math.round(drawn - got));
        const n = result.kind === "rows" ? (result.rows.length === 1 ? "1 row" : count(result.rows.length) + " rows") : "Done";
        say(here, `${n} in ${seconds(got - begun)}`);
        remember({ query, at: Date.now(), rows: result.rows?.length, ms: Math.round(got - begun) });
        if (here === panel()) keepAddress({ ...tab, query });
      })
      .catch((error) => failed(error, here, timeout))
      .finally(() => {
        clearInterval(tick);
        running = null;
        run.textContent = "Run";
      });
  }
  function failed(error, here, timeout) {
    if (error.name === "AbortError") return say(here, "Cancelled");
    const stopped = error.timedOut && timeout || error.busy;
    say(here, stopped ? "Stopped" : "Failed", !stopped);
    const box = el("div.error-box", { role: "alert" }, ...explained(error, { tried: Boolean(timeout), again: () => start(timeout), whole: () => start() }));
    here.node.replaceChildren(box);
    if (here !== panel()) return;
    if (error.line) editor.mark(error);
    const missing = /add "(PREFIX [^"]+>)"/.exec(error.message);
    if (missing) {
      const mend = () => {
        editor.replace(missing[1] + "\n" + editor.text());
        start();
      };
      box.append(" ", el("button.plain", { type: "button", onclick: mend }, "Add it and run"));
    }
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter === zip) download(editor.text());
    else if (running) running.abort();
    else start();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && running) running.abort();
  });

  // The zip button shows the size of the zip for the present query.
  let asked = null;
  const measure = debounce(600, async () => {
    asked?.abort();
    asked = new AbortController();
    const query = editor.text();
    if (!/\bselect\b/i.test(query)) return offer({ none: "Only a SELECT query names files." });
    if (tabs.current().request?.defaultGraphs || tabs.current().request?.namedGraphs) return offer({ none: "A zip is of a query that asks all graphs." });
    try {
      offer(await plan(query, asked.signal));
    } catch (error) {
      if (error.name !== "AbortError") offer({});
    }
  });
  function offer(p) {
    zip.disabled = Boolean(p.none);
    zip.title = p.none || "";
    zip.textContent = p.files ? `Download files as ZIP (${planText(p)})` : "Download files as ZIP";
  }
  function changed(query) {
    tabs.keep({ query });
    measure();
  }
  results.replaceChildren(panel().node);

  const keepAddress = (tab) => history.replaceState(null, "", ownAddress(home, tab));
  const present = () => ({ ...tabs.current(), query: editor.text() });
  async function copy(address, words) {
    try {
      await navigator.clipboard.writeText(address);
      say(panel(), words);
    } catch {
      // Browsers have no clipboard for pages without HTTPS.
      const field = el("input.address", { type: "text", readonly: true, value: address, "aria-label": "The address, to be copied" });
      notes.replaceChildren(field);
      field.select();
      say(panel(), "Copy the address below");
    }
  }
  const share = (tab) => copy(location.origin + ownAddress(home, tab), `The address of ${tab.name} is copied`);
  const saved = makeSaved({
    current: present,
    open: (query) => (tabs.add(query), start()),
    share,
    onSaved: (name) => tabs.rename(name),
  });
  const explainButton = el("button.plain", { type: "button", onclick: showPlan }, "Explain");
  async function showPlan() {
    editor.mark(null);
    const here = panel();
    try {
      const text = await explain(editor.text(), { request: tabs.current().request });
      here.node.replaceChildren(el("div.explain", {}, el("pre.source", { tabindex: "0", role: "region", "aria-label": "Plan of the query" }, el("code", {}, text))));
      say(here, "Plan");
    } catch (error) {
      failed(error, here);
    }
  }
  zip.after(
    explainButton,
    menu("Share", () => [
      ["Copy the address", "It opens this query and this view, here and without scripts", () => (keepAddress(present()), share(present()))],
      ["Copy the address as YASGUI has it", "YASGUI and consoles like it read it; it names this archive's endpoint", () => copy(yasguiAddress(location.origin + home + "/console", endpoint, present()), "The address is copied, as YASGUI has it")],
    ]),
    saved.button,
    menu("History", () => runs().map((r) => [firstLine(r.query), `${new Date(r.at).toLocaleString()}${r.rows === undefined ? "" : ", " + count(r.rows) + " rows"}`, () => tabs.add({ query: r.query })])),
    menu("Examples", () => examples.map((e) => [e.Title, e.About, () => (tabs.add({ query: e.Query, name: e.Title }), start())])),
  );
  form.after(saved.panel);
  root.querySelector("[data-example-list]").remove();
  run.title = "Ctrl+Enter";

  // begin runs what came with an address, or asks first.
  function begin(from) {
    const here = panel();
    here.ignored = from.ignored;
    note();
    const asks = question(from, () => start(trial));
    if (!asks) return start(trial);
    here.node.replaceChildren(el("div.ask-box", { role: "alert" }, ...asks));
    say(here, "Not run yet");
  }
  addEventListener("hashchange", () => {
    const from = readAddress(location, ours);
    if (!from || running) return;
    tabs.add(from);
    begin(from);
  });
  note();
  measure();
  if (opened) begin(opened);
  else editor.focus();
}

function firstLine(query) {
  const lines = query.split("\n").filter((l) => l.trim() && !/^\s*(prefix|base|#)/i.test(l));
  return (lines.slice(0, 2).join(" ").replace(/\s+/g, " ") || query).slice(0, 80);
}
