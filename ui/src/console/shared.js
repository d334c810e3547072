// Queries that came with an address. An address is from anybody: it runs a query only here, only for a moment unasked, and
// not at all if the query or the address names another server.

import { el } from "../lib/dom.js";
import { asksOthers } from "./links.js";

export const trial = 3; // seconds that a query from an address may take unasked

/** What must be asked before a query that came with an address runs, as nodes; null for nothing. */
export function question({ query, elsewhere }, run) {
  const here = el("button.plain", { type: "button", onclick: run }, elsewhere ? "Run it here" : "Run it");
  if (elsewhere) {
    const there = elsewhere.open && el("a", { href: elsewhere.open(query), target: "_blank", rel: "noopener noreferrer" }, "Open it at " + elsewhere.host);
    return [
      el("p", {}, "This address names another endpoint: ", el("strong", {}, elsewhere.text), ". The console sends queries to this archive only. Nothing was sent yet."),
      el("p.acts", {}, here, there ? " " : "", there),
    ];
  }
  if (asksOthers(query)) return [el("p", {}, "This query came with the address and has other servers asked (SERVICE). Nothing was sent yet."), el("p.acts", {}, here)];
  return null;
}

/** What a failure says, as nodes, and what may be done: again runs the query as before, whole without the limit. */
export function explained(error, { tried, again, whole }) {
  const button = (text, onclick) => el("button.plain", { type: "button", onclick }, text);
  if (error.timedOut && tried) return [`This query came with the address and takes longer than ${trial} seconds. `, button("Run it to its end", whole)];
  if (error.busy) return [`The server is busy, and has not run the query. ${error.message}${error.retryAfter ? ` Try again in ${error.retryAfter} seconds.` : ""} `, button("Try again", again)];
  return [error.message];
}

/** What a person should know of a tab: the graphs that are asked, and what of its address is not followed. */
export function notesOn({ request }, ignored, dropGraphs) {
  const notes = [];
  const { defaultGraphs = [], namedGraphs = [] } = request || {};
  const names = (graphs) => graphs.slice(0, 3).map((g) => `<${g.slice(0, 200)}>`).join(", ") + (graphs.length > 3 ? ` and ${graphs.length - 3} more` : "");
  if (defaultGraphs.length || namedGraphs.length)
    notes.push(el("p", {}, "Only these graphs are asked: " + [defaultGraphs.length && "default " + names(defaultGraphs), namedGraphs.length && "named " + names(namedGraphs)].filter(Boolean).join("; ") + ". ", el("button.link", { type: "button", onclick: dropGraphs }, "Ask all")));
  if (ignored?.length) notes.push(el("p.quiet", {}, `Of this address, the console does not follow ${ignored.join(", ")}.`));
  return notes;
}
