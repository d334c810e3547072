// Addresses of queries. ?query= is this archive's own, which works without scripts; #query=&endpoint=… is YASGUI's, which
// many pages and papers have. Both are read, and an address is text from anybody: it never decides where a query is sent.

import { graphFormats } from "./answer.js";

const longest = 1_000_000; // characters of an address that are read
const mostGraphs = 50;
const longestQuery = 4000; // characters before the #: proxies refuse longer addresses; a browser does not send what follows it

const known = new Set(["query", "endpoint", "requestMethod", "tabTitle", "headers", "contentTypeConstruct", "contentTypeSelect", "outputFormat", "outputSettings", "namedGraph", "defaultGraph"]);

// The views by YASGUI's names of them, in lower case; the first name of a view is written.
const views = [["table", "Table"], ["response", "Raw"], ["gchart", "Chart"], ["timeline", "Timeline"], ["geo", "Map"], ["pivot", "Pivot"], ["rawresponse", "Raw"], ["simpletable", "Table"], ["leaflet", "Map"], ["map", "Map"], ["raw", "Raw"], ["chart", "Chart"]];
const viewOf = (format) => views.find(([name]) => name === format.toLowerCase())?.[1];
const formatOf = (view) => views.find(([, v]) => v === view)?.[0];

/**
 * Reads an address (as location has it): null if it has no query, else {query, name, view, settings, request, elsewhere,
 * ignored}. request is {method, defaultGraphs, namedGraphs, graphType}, elsewhere the address of an endpoint that is not
 * ours, and ignored names what is not followed.
 */
export function readAddress({ search, hash, href }, ours) {
  const parameters = new URLSearchParams(search.slice(0, longest));
  const fragment = new URLSearchParams(hash.slice(1, longest));
  if (!parameters.has("query") && !fragment.has("query")) return null;
  // YASGUI reads either the one or the other. Settings of a view follow our own addresses.
  const all = fragment.has("query") ? [...fragment] : [...parameters, ...fragment].filter(([name]) => known.has(name));
  const got = { query: "", name: "", view: undefined, settings: undefined, request: {}, elsewhere: null, ignored: [] };
  const request = got.request;
  for (const [name, value] of all) {
    switch (name) {
      case "query":
        got.query = value;
        break;
      case "endpoint":
        got.elsewhere = elsewhere(value, href, ours);
        break;
      case "tabTitle":
        got.name = value.trim().slice(0, 60);
        break;
      case "requestMethod":
        if (value.toUpperCase() === "GET") request.method = "GET";
        break;
      case "outputFormat":
        got.view = viewOf(value);
        if (!got.view && value && !/^(boolean|error)$/i.test(value)) got.ignored.push("the view " + value.slice(0, 40));
        break;
      case "outputSettings":
        got.settings = parsed(value);
        break;
      case "contentTypeConstruct":
        request.graphType = graphType(value);
        break;
      case "contentTypeSelect": // rows are shown the same, whatever their syntax on the way
        break;
      case "defaultGraph":
        (request.defaultGraphs ??= []).push(value);
        break;
      case "namedGraph":
        (request.namedGraphs ??= []).push(value);
        break;
      case "headers":
        for (const header of Object.keys(parsed(value) || {}).slice(0, 5)) got.ignored.push("the header " + header.slice(0, 40));
        break;
      default:
        if (got.ignored.length < 10) got.ignored.push("the argument " + name.slice(0, 40));
    }
  }
  for (const graphs of [request.defaultGraphs, request.namedGraphs]) graphs?.splice(mostGraphs);
  return got;
}

// The first type that an Accept header names; undefined for Turtle, which comes unasked, and for what the server does not write.
function graphType(accept) {
  const type = accept.split(/[,;]/)[0].trim();
  return type !== "text/turtle" && graphFormats.some(([, each]) => each === type) ? type : undefined;
}

function parsed(json) {
  try {
    const value = JSON.parse(json);
    return value && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

// elsewhere gives null for our own endpoint, else {host, text, open(query)}: what a person may open, without what signs in.
function elsewhere(endpoint, href, ours) {
  if (!endpoint.trim()) return null;
  let url;
  try {
    url = new URL(endpoint, href);
  } catch {
    return { host: "", text: endpoint.slice(0, 200) };
  }
  if (ours.some((own) => sameEndpoint(url, new URL(own, href)))) return null;
  if (!/^https?:$/.test(url.protocol)) return { host: "", text: endpoint.slice(0, 200) };
  url.username = url.password = url.hash = "";
  return {
    host: url.host,
    text: url.href.slice(0, 200),
    open(query) {
      const to = new URL(url);
      to.searchParams.set("query", query);
      return to.href;
    },
  };
}

const path = (url) => url.pathname.replace(/\/+$/, "");
const sameEndpoint = (a, b) => a.protocol === b.protocol && a.host === b.host && path(a) === path(b);

/** The address of a query on this console. Views other than the table, and titles, come after the #. */
export function ownAddress(home, { query, name, view, settings, request }) {
  const after = new URLSearchParams();
  if (name && !/^Query \d+$/.test(name)) after.set("tabTitle", name);
  shown(after, view, settings);
  graphs(after, request);
  if (query.length > longestQuery) after.set("query", query);
  const fragment = after.toString();
  if (after.has("query")) return home + "/console#" + fragment;
  return home + "/console?" + new URLSearchParams({ query }) + (fragment && "#" + fragment);
}

/** The address as YASGUI writes it; another YASGUI reads it too, and asks the endpoint that it names. */
export function yasguiAddress(page, endpoint, { query, name, view, settings, request }) {
  const after = new URLSearchParams({
    query, endpoint, requestMethod: request?.method || "POST", tabTitle: name || "Query", headers: "{}",
    contentTypeConstruct: request?.graphType || "text/turtle", contentTypeSelect: "application/sparql-results+json",
  });
  graphs(after, request);
  shown(after, view || "Table", settings);
  // A browser leaves %20 alone, where it might not a plus.
  return page + "#" + after.toString().replaceAll("+", "%20");
}

function shown(to, view, settings) {
  const format = formatOf(view);
  if (!format) return;
  if (format !== "table" || to.has("endpoint")) to.set("outputFormat", format);
  if (view === "Pivot" && settings) to.set("outputSettings", JSON.stringify(settings));
}

function graphs(to, request) {
  for (const g of request?.defaultGraphs || []) to.append("defaultGraph", g);
  for (const g of request?.namedGraphs || []) to.append("namedGraph", g);
}

// The tokens of SPARQL in which the word SERVICE would be none, and words. A name is cut short rather than taken for longer
// than it is: a query that need not ask does, but none that should is overlooked.
const tokens = new RegExp([
  /"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''/, // long strings
  /"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*'/,
  /<[^<>"{}|^`\\\x00-\x20]*>/, // IRIs
  /#[^\n\r]*/, // comments
  /\\[^]/, // a character of a name
  /[?$]\w+|@[A-Za-z-]+/, // variables, languages
  /(?:[A-Za-z_][\w-]*)?:(?:\\[^]|[\w%:-])*/, // prefixed names
  /[A-Za-z_]\w*/,
].map((r) => r.source).join("|"), "g");

/** Whether a query has a SERVICE, which sends a part of it to another server. The word in text, IRIs and comments is none. */
export function asksOthers(query) {
  return [...query.matchAll(tokens)].some(([token]) => token.toUpperCase() === "SERVICE");
}
