// The console: tabs, editor, run and cancel, the zip of the answer's files, results. The page is a plain form before
// this runs and stays one where it does not.

import { debounce, el } from "../lib/dom.js";
import { count, seconds } from "../lib/format.js";
import { download, plan, planText } from "../lib/zip.js";
import { ask, explain } from "./answer.js";
import { makeEditor } from "./editor.js";
import { showResults } from "./results.js";
import { makeTabs, remember, runs } from "./tabs.js";
import { setBase, setPrefixes } from "./terms.js";

export function openConsole(root) {
  const form = root.querySelector("[data-form]");
  const area = form.querySelector("textarea");
  const status = root.querySelector("[data-status]");
  const results = root.querySelector("[data-results]");
  const run = root.querySelector("[data-run]");
  const zip = root.querySelector("[data-zip-query]");
  const examples = JSON.parse(root.dataset.examples);
  setBase(root.dataset.base);
  const words = { prefixes: {}, classes: [], predicates: [] };
  fetch("/completion.json")
    .then((r) => r.json())
    .then((w) => (Object.assign(words, w), setPrefixes(w.prefixes)))
    .catch(() => {}); // the editor works without

  const host = el("div.editor", { id: "editor", role: "tabpanel", "aria-label": "Query" });
  const lines = Math.max(area.value.split("\n").length, 7);
  host.style.height = `${Math.min(lines * 22.5 + 28, 460)}px`;
  area.hidden = true;
  area.before(host);
  form.querySelector("label").remove();
  let editor;
  const tabs = makeTabs(root.querySelector("[data-tabs]"), {
    first: { query: area.value, given: root.hasAttribute("data-given") },
    onOpen: (query) => {
      editor.open(query);
      changed(query);
    },
  });
  editor = makeEditor(host, { text: tabs.query(), words, onRun: start, onChange: changed });

  // Run and cancel are one button, so that a second click can never start a second query.
  let running = null;
  function start() {
    if (running) return;
    const query = editor.text();
    running = new AbortController();
    const begun = performance.now();
    const tick = setInterval(() => (status.textContent = "Running, " + seconds(performance.now() - begun)), 100);
    status.classList.remove("bad");
    run.textContent = "Cancel";
    editor.mark(null);
    ask(query, running.signal)
      .then((result) => {
        const got = performance.now();
        showResults(results, result, { query, base: root.dataset.base, onError: failed });
        const drawn = performance.now();
        results.dataset.drawn = String(Math.round(drawn - got));
        const n = result.kind === "rows" ? (result.rows.length === 1 ? "1 row" : count(result.rows.length) + " rows") : "Done";
        status.textContent = `${n} in ${seconds(got - begun)}`;
        remember({ query, at: Date.now(), rows: result.rows?.length, ms: Math.round(got - begun) });
        history.replaceState(null, "", permalink(query));
      })
      .catch(failed)
      .finally(() => {
        clearInterval(tick);
        running = null;
        run.textContent = "Run";
      });
  }
  function failed(error) {
    if (error.name === "AbortError") {
      status.textContent = "Cancelled";
      return;
    }
    status.classList.add("bad");
    status.textContent = "Failed";
    results.replaceChildren(el("div.error-box", { role: "alert" }, error.message));
    if (error.line) editor.mark(error);
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

  // The zip button says what it will hold, for the query as it stands.
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
  measure();

  const permalink = (query) => "/console?" + new URLSearchParams({ query });
  const button = (text, onclick) => el("button.plain", { type: "button", onclick }, text);
  const explainButton = button("Explain", async () => {
    editor.mark(null);
    try {
      const text = await explain(editor.text());
      results.replaceChildren(el("div.explain", {}, el("pre.source", { tabindex: "0", role: "region", "aria-label": "Plan of the query" }, el("code", {}, text))));
      status.textContent = "Plan";
      status.classList.remove("bad");
    } catch (error) {
      failed(error);
    }
  });
  const link = button("Copy link", async () => {
    const address = location.origin + permalink(editor.text());
    history.replaceState(null, "", permalink(editor.text()));
    if (navigator.clipboard) await navigator.clipboard.writeText(address);
    status.textContent = "The address of this query is copied";
  });
  zip.after(
    explainButton,
    link,
    menu("History", () => runs().map((r) => [firstLine(r.query), `${new Date(r.at).toLocaleString()}${r.rows === undefined ? "" : ", " + count(r.rows) + " rows"}`, () => tabs.add(r.query)])),
    menu("Examples", () => examples.map((e) => [e.Title, e.About, () => (tabs.add(e.Query, e.Title), start())])),
  );
  root.querySelector("[data-example-list]").remove();
  run.title = "Ctrl+Enter";
  if (root.hasAttribute("data-given")) start();
  else editor.focus();
}

function firstLine(query) {
  const lines = query.split("\n").filter((l) => l.trim() && !/^\s*(prefix|base|#)/i.test(l));
  return (lines.slice(0, 2).join(" ").replace(/\s+/g, " ") || query).slice(0, 80);
}

// A button that opens a list of choices; Escape or a click elsewhere closes it.
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
