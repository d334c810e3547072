// Reads answers: SPARQL results JSON as rows of terms, everything else as text.

import { root } from "../lib/root.js";
import { saveBlob } from "../lib/save.js";

const rowTypes = "application/sparql-results+json";
const longestAddress = 6000; // of a query that is asked with GET

/**
 * Sends a query to this archive, and never elsewhere. request may choose the method and the graphs, as an address did.
 */
function send(query, { accept, signal, request = {}, ...more }) {
  const body = new URLSearchParams({ query });
  for (const [name, value] of Object.entries(more)) if (value) body.set(name, value);
  for (const g of request.defaultGraphs || []) body.append("default-graph-uri", g);
  for (const g of request.namedGraphs || []) body.append("named-graph-uri", g);
  const address = root + "/sparql?" + body;
  if (request.method === "GET" && address.length < longestAddress) return fetch(address, { headers: { Accept: accept }, signal });
  return fetch(root + "/sparql", { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: accept }, body, signal });
}

/**
 * Gives {kind: "rows", vars, rows, raw} | {kind: "boolean", value, raw} | {kind: "text", raw}; throws a Failure. A query
 * that takes longer than timeout, in seconds, is a Failure that is slow.
 */
export async function ask(query, { signal, timeout, request }) {
  const graph = request?.graphType || "text/turtle";
  const response = await send(query, { accept: `${rowTypes}, ${graph};q=0.9, application/json;q=0.5`, signal, request, timeout });
  const type = response.headers.get("Content-Type") || "";
  const raw = await response.text();
  if (!response.ok) throw failure(response, type, raw);
  if (!type.includes("sparql-results+json")) return { kind: "text", raw, type };
  const json = JSON.parse(raw);
  if (typeof json.boolean === "boolean") return { kind: "boolean", value: json.boolean, raw, type };
  const vars = json.head.vars;
  const rows = json.results.bindings.map((b) => vars.map((v) => b[v]));
  return { kind: "rows", vars, rows, raw, type };
}

/**
 * Failure is an answer that is none. timedOut tells a query that took too long from a server that is busy, which may have
 * the same status; retryAfter is in seconds.
 */
export class Failure extends Error {
  constructor(message, { line, col, timedOut = false, busy = false, retryAfter } = {}) {
    super(message);
    Object.assign(this, { line, col, timedOut, busy, retryAfter });
  }
}

export function failure(response, type, raw) {
  const wait = Number.parseInt(response.headers.get("Retry-After"), 10);
  const retryAfter = wait > 0 ? wait : undefined;
  const refused = response.status === 429 || response.status === 503;
  let body = null;
  try {
    body = type.includes("json") ? JSON.parse(raw) : null;
  } catch {
    // a proxy's page may call itself JSON
  }
  if (!body) return new Failure(`${response.status} ${response.statusText}\n${raw.slice(0, 2000)}`, { busy: refused, retryAfter });
  const message = [body.title, body.detail].filter(Boolean).join(": ");
  const said = /line (\d+)(?:,? col(?:umn)? (\d+))?/i.exec(message);
  const timedOut = body.timedOut === true;
  return new Failure(message, { line: body.line ?? (said && Number(said[1])), col: body.col ?? body.column ?? (said && Number(said[2])), timedOut, busy: refused && !timedOut, retryAfter });
}

/** The plan of a query as the server explains it. */
export async function explain(query, { signal, request }) {
  const response = await send(query, { accept: "text/plain, application/json;q=0.5", signal, request, explain: "1" });
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
export async function save(query, [, type, extension], request) {
  const response = await send(query, { accept: type, request });
  if (!response.ok) throw failure(response, response.headers.get("Content-Type") || "", await response.text());
  saveBlob(await response.blob(), "results." + extension);
}
