// The console: tabs, editor, run and cancel, the zip of the answer's files, results. Without it the page is a plain form.

import { debounce, el } from "../lib/dom.js";
import { count, seconds } from "../lib/format.js";
import { root as home } from "../lib/root.js";
import { download, plan, planText } from "../lib/zip.js";
import { ask, explain } from "./answer.js";
import { makeEditor } from "./editor.js";
import { showResults } from "./results.js";
import { makeTabs, remember, runs } from "./tabs.js";
import { setBase, setPrefixes } from "./terms.js";

const trial = 3; // seconds that a query from an address may take unasked

export function openConsole(root) {
  const form = root.querySelector("[data-form]");
  const area = form.querySelector("textarea");
  const status = root.querySelector("[data-status]");
  const results = root.querySelector("[data-results]");
  const panels = new WeakMap(); // tab -> its answer and status
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
  setBase(root.dataset.base);
  const words = { prefixes: {}, classes: [], predicates: [] };
  fetch(home + "/completion.json")
    .then((r) => r.json())
    .then((w) => (Object.assign(words, w), setPrefixes(w.prefixes)))
    .catch(() => {}); // the editor works without completion

  const host = el("div.editor", { id: "editor", role: "tabpanel", "aria-label": "Query" });
  const lines = Math.max(area.value.split("\n").length, 7);
  host.style.height = `${Math.min(lines * 22.5 + 28, 460)}px`;
  area.hidden = true;
  area.before(host);
  form.querySelector("label").remove();
  let editor;
  const tabs = makeTabs(root.querySelector("[data-tabs]"), {
    first: { query: area.value, given: root.hasAttribute("data-given") },
    onOpen: (tab) => {
      const here = panel();
      results.replaceChildren(here.node);
      say(here, here.status, here.bad);
      editor.open(tab.query);
      measure();
    },
  });
  editor = makeEditor(host, { text: tabs.current().query, words, onRun: () => start(), onChange: changed });

  // Run and cancel share a button, so that a second click cannot start a second query.
  let running = null;
  function start(limit) {
    if (running) return;
    const query = editor.text();
    const here = panel();
    running = new AbortController();
    const begun = performance.now();
    const tick = setInterval(() => say(here, "Running, " + seconds(performance.now() - begun)), 100);
    say(here, "Running");
    run.textContent = "Cancel";
    editor.mark(null);
    ask(query, running.signal, limit)
      .then((result) => {
        const got = performance.now();
        showResults(here.node, result, { query, base: root.dataset.base, onError: (error) => failed(error, here) });
        const drawn = performance.now();
        results.dataset.drawn = String(Math.round(drawn - got));
        const n = result.kind === "rows" ? (result.rows.length === 1 ? "1 row" : count(result.rows.length) + " rows") : "Done";
        say(here, `${n} in ${seconds(got - begun)}`);
        remember({ query, at: Date.now(), rows: result.rows?.length, ms: Math.round(got - begun) });
        history.replaceState(null, "", permalink(query));
      })
      .catch((error) => failed(error, here))
      .finally(() => {
        clearInterval(tick);
        running = null;
        run.textContent = "Run";
      });
  }
  function failed(error, here) {
    if (error.name === "AbortError") return say(here, "Cancelled");
    say(here, "Failed", true);
    const box = el("div.error-box", { role: "alert" }, error.message);
    here.node.replaceChildren(box);
    if (here !== panel()) return;
    if (error.slow) {
      box.replaceChildren(`This query came with the address and takes longer than ${trial} seconds. `, el("button.plain", { type: "button", onclick: () => start() }, "Run it to its end"));
      return say(here, "Stopped");
    }
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
    tabs.keep(query);
    measure();
  }
  results.replaceChildren(panel().node);
  measure();

  const permalink = (query) => home + "/console?" + new URLSearchParams({ query });
  const button = (text, onclick) => el("button.plain", { type: "button", onclick }, text);
  const explainButton = button("Explain", async () => {
    editor.mark(null);
    const here = panel();
    try {
      const text = await explain(editor.text());
      here.node.replaceChildren(el("div.explain", {}, el("pre.source", { tabindex: "0", role: "region", "aria-label": "Plan of the query" }, el("code", {}, text))));
      say(here, "Plan");
    } catch (error) {
      failed(error, here);
    }
  });
  const link = button("Copy link", async () => {
    const address = location.origin + permalink(editor.text());
    history.replaceState(null, "", permalink(editor.text()));
    if (navigator.clipboard) await navigator.clipboard.writeText(address);
    say(panel(), "The address of this query is copied");
  });
  zip.after(
    explainButton,
    link,
    menu("History", () => runs().map((r) => [firstLine(r.query), `${new Date(r.at).toLocaleString()}${r.rows === undefined ? "" : ", " + count(r.rows) + " rows"}`, () => tabs.add(r.query)])),
    menu("Examples", () => examples.map((e) => [e.Title, e.About, () => (tabs.add(e.Query, e.Title), start())])),
  );
  root.querySelector("[data-example-list]").remove();
  run.title = "Ctrl+Enter";
  if (root.hasAttribute("data-given")) start(trial);
  else editor.focus();
}

function firstLine(query) {
  const lines = query.split("\n").filter((l) => l.trim() && !/^\s*(prefix|base|#)/i.test(l));
  return (lines.slice(0, 2).join(" ").replace(/\s+/g, " ") || query).slice(0, 80);
}

// A button that opens a list of choices. Escape or a click elsewhere closes it.
function menu(title, items) {
  const list = el("div.menu", { hidden: true });
  const opener = el("button.plain", { type: "button", "aria-expanded": "false", onclick: () => toggle(list.hidden) }, title);
  const node = el("span.pop", { onkeydown: (e) => e.key === "Escape" && (toggle(false), opener.focus()) }, opener, list);
  function toggle(open) {
    list.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const entries = items();
    list.replaceChildren(
      ...(entries.length ? entries.map(([name, about, go]) => el("button", { type: "button", title: about, onclick: () => (toggle(false), go()) }, name)) : [el("span.quiet", {}, "Nothing yet.")]),
    );
    list.firstElementChild.focus?.();
  }
  document.addEventListener("click", (e) => !node.contains(e.target) && toggle(false));
  return node;
}
