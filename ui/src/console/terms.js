// Formats RDF terms of SPARQL results JSON for people.

import { root } from "../lib/root.js";

let prefixes = {};
let namespaces = []; // longest first

export function setPrefixes(map) {
  prefixes = map;
  namespaces = Object.entries(map).sort((a, b) => b[1].length - a[1].length);
}

export const knownPrefixes = () => prefixes;

let own = ""; // base of this archive's IRIs, which are shown as paths
export const setBase = (base) => (own = base || "");

/** Folds an IRI with the known prefixes, or leaves it. */
export function fold(iri) {
  if (own && iri.startsWith(own)) return "/" + iri.slice(own.length);
  for (const [prefix, namespace] of namespaces) {
    if (iri.startsWith(namespace)) {
      const local = iri.slice(namespace.length);
      if (/^[\w-][\w.-]*$/.test(local) && !local.endsWith(".")) return prefix + ":" + local;
    }
  }
  return iri;
}

const numeric = /#(integer|decimal|double|float|long|int|short|byte|nonNegativeInteger|positiveInteger|unsigned\w+)$/;
export const isNumber = (term) => term?.type === "literal" && numeric.test(term.datatype || "");
export const isDate = (term) => /#(dateTime|date|dateTimeStamp|gYear|gYearMonth)$/.test(term?.datatype || "");

export function text(term) {
  if (!term) return "";
  if (term.type === "uri") return fold(term.value);
  if (term.type === "bnode") return "_:" + term.value;
  if (term.type === "triple") return `<<( ${text(term.value.subject)} ${text(term.value.predicate)} ${text(term.value.object)} )>>`;
  return term.value;
}

export function full(term) {
  if (!term) return "unbound";
  if (term.type === "uri") return "<" + term.value + ">";
  if (term.type !== "literal" && term.type !== "typed-literal") return text(term);
  const quoted = JSON.stringify(term.value);
  if (term["xml:lang"]) return quoted + "@" + term["xml:lang"];
  return term.datatype ? quoted + "^^" + fold(term.datatype) : quoted;
}

const collator = new Intl.Collator("en", { numeric: true });

/** The order of a sorted column: unbound, numbers by value, then text. */
export function compare(a, b) {
  if (!a || !b) return (a ? 1 : 0) - (b ? 1 : 0);
  const na = isNumber(a) ? Number(a.value) : NaN;
  const nb = isNumber(b) ? Number(b.value) : NaN;
  if (!Number.isNaN(na) && !Number.isNaN(nb)) return na - nb;
  if (isDate(a) && isDate(b)) return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  return collator.compare(a.value, b.value);
}

/** Where a term leads on this server; null for nowhere. */
export function address(term, base) {
  if (term?.type !== "uri" || !/^(https?|ftp):/.test(term.value)) return null;
  for (const own of [base, location.origin + root + "/"]) {
    if (own && term.value.startsWith(own)) return root + "/" + term.value.slice(own.length);
  }
  return root + "/describe?iri=" + encodeURIComponent(term.value);
}
