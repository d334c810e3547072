// Queries saved by name in the browser: a list in its storage, which other windows change too, and files to move it. Every
// change reads the list first, so that two windows do not undo each other's.

import { read, write } from "../lib/kept.js";

export const mostSaved = 500;
export const longestName = 100;
export const largestFile = 5_000_000; // bytes
const longestQuery = 1_000_000; // characters

export class Unsaved extends Error {}

/** The saved queries by name, as {name, query, view, settings, request}. */
export function list() {
  return clean(read("saved", [])).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

const clean = (values) => (Array.isArray(values) ? values : []).filter((v) => typeof v?.query === "string" && typeof v.name === "string" && v.name.trim());

function change(edit) {
  const next = edit(list());
  if (next.length > mostSaved) throw new Unsaved(`At most ${mostSaved} queries can be saved. Remove some first.`);
  if (!write("saved", next)) throw new Unsaved("This browser stores nothing more: its storage is full or forbidden. Export the queries to a file.");
}

/** Saves a query under a name; one of the same name is replaced. */
export function save(query) {
  const named = { ...query, name: nameOf(query.name) };
  if (named.query.length > longestQuery) throw new Unsaved("This query is too long to be saved.");
  change((all) => [...all.filter((q) => q.name !== named.name), named]);
  return named.name;
}

export function rename(from, to) {
  const name = nameOf(to);
  if (name === from) return name;
  change((all) => {
    if (all.some((q) => q.name === name)) throw new Unsaved(`There is a query named “${name}” already.`);
    if (!all.some((q) => q.name === from)) throw new Unsaved("This query is no longer there.");
    return all.map((q) => (q.name === from ? { ...q, name } : q));
  });
  return name;
}

/** Removes a query and gives it, so that it can be saved again; undefined if it is not there. */
export function remove(name) {
  let removed;
  change((all) => {
    removed = all.find((q) => q.name === name);
    return all.filter((q) => q.name !== name);
  });
  return removed;
}

function nameOf(text) {
  const name = text.trim().replace(/\s+/g, " ").slice(0, longestName);
  if (!name) throw new Unsaved("A saved query needs a name.");
  return name;
}

const format = "odarchive-queries";

/** All saved queries as the text of a file. */
export const exported = () => JSON.stringify({ format, version: 1, queries: list() }, null, 2) + "\n";

/** Adds the queries of a file that exported wrote. A name that is taken by another query gets a number. Gives how many are new. */
export function imported(text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Unsaved("This file is no list of queries: it is not JSON.");
  }
  if (file?.format !== format) throw new Unsaved("This file is no list of queries that a console has exported.");
  if (file.version !== 1) throw new Unsaved("This file was exported by a newer console.");
  let added = 0;
  change((all) => {
    const names = new Map(all.map((q) => [q.name, q]));
    for (const q of clean(file.queries)) {
      if (q.query.length > longestQuery) throw new Unsaved("A query of this file is too long to be saved.");
      const wanted = nameOf(q.name);
      let name = wanted;
      for (let n = 2; names.has(name) && names.get(name).query !== q.query; n++) name = `${wanted.slice(0, longestName - 8)} (${n})`;
      if (names.has(name)) continue;
      names.set(name, { name, query: q.query, view: typeof q.view === "string" ? q.view : undefined, settings: plain(q.settings), request: requestOf(q.request) });
      added++;
    }
    return [...names.values()];
  });
  return added;
}

const plain = (v) => (v && typeof v === "object" ? v : undefined);

// A file is from anybody: of its requests, only the graphs are followed.
function requestOf(request) {
  const graphs = (v) => (Array.isArray(v) ? v.filter((g) => typeof g === "string").slice(0, 50) : undefined);
  return request ? { defaultGraphs: graphs(request.defaultGraphs), namedGraphs: graphs(request.namedGraphs) } : undefined;
}
