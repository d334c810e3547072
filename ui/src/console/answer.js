// Reads answers: SPARQL results JSON as rows of terms, everything else as text.

import { root } from "../lib/root.js";

export const accept = "application/sparql-results+json, text/turtle;q=0.9, application/json;q=0.5";

/**
 * Gives {kind: "rows", vars, rows, raw} | {kind: "boolean", value, raw} | {kind: "text", raw}; throws a Failure. A query
 * that takes longer than timeout, in seconds, is a Failure that is slow.
 */
export async function ask(query, signal, timeout) {
  const response = await fetch(root + "/sparql", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: accept },
    body: new URLSearchParams(timeout ? { query, timeout } : { query }),
    signal,
  });
  const type = response.headers.get("Content-Type") || "";
  const raw = await response.text();
  if (!response.ok) throw Object.assign(failure(response, type, raw), { slow: Boolean(timeout) && response.status === 503 });
  if (!type.includes("sparql-results+json")) return { kind: "text", raw, type };
  const json = JSON.parse(raw);
  if (typeof json.boolean === "boolean") return { kind: "boolean", value: json.boolean, raw, type };
  const vars = json.head.vars;
  const rows = json.results.bindings.map((b) => vars.map((v) => b[v]));
  return { kind: "rows", vars, rows, raw, type };
}

export class Failure extends Error {
  constructor(message, line, col) {
    super(message);
    this.line = line;
    this.col = col;
  }
}

function failure(response, type, raw) {
  if (!type.includes("json")) return new Failure(`${response.status} ${response.statusText}\n${raw.slice(0, 2000)}`);
  const body = JSON.parse(raw);
  const message = [body.title, body.detail].filter(Boolean).join(": ");
  const said = /line (\d+)(?:,? col(?:umn)? (\d+))?/i.exec(message);
  return new Failure(message, body.line ?? (said && Number(said[1])), body.col ?? body.column ?? (said && Number(said[2])));
}

/** The plan of a query as the server explains it. */
export async function explain(query, signal) {
  const response = await fetch(root + "/sparql", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/plain, application/json;q=0.5" },
    body: new URLSearchParams({ query, explain: "1" }),
    signal,
  });
  const type = response.headers.get("Content-Type") || "";
  const raw = await response.text();
  if (!response.ok) throw failure(response, type, raw);
  if (type.includes("json")) return JSON.stringify(JSON.parse(raw), null, 2);
  return raw;
}

export const formats = [
  ["CSV", "text/csv", "csv"],
  ["TSV", "text/tab-separated-values", "tsv"],
  ["JSON", "application/sparql-results+json", "json"],
  ["XML", "application/sparql-results+xml", "xml"],
];
export const graphFormats = [
  ["Turtle", "text/turtle", "ttl"],
  ["N-Triples", "application/n-triples", "nt"],
  ["JSON-LD", "application/ld+json", "jsonld"],
  ["RDF/XML", "application/rdf+xml", "rdf"],
];

/** Asks again in another syntax and saves what comes. */
export async function save(query, [, type, extension]) {
  const response = await fetch(root + "/sparql", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: type },
    body: new URLSearchParams({ query }),
  });
  if (!response.ok) throw failure(response, response.headers.get("Content-Type") || "", await response.text());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = "results." + extension;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
