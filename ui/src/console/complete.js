// Completes prefixes, classes and predicates of the store, with counts, variables of the query, and keywords.

import { count } from "../lib/format.js";

const keywords = ("SELECT DISTINCT REDUCED CONSTRUCT DESCRIBE ASK WHERE FROM NAMED GRAPH OPTIONAL UNION MINUS FILTER BIND VALUES SERVICE " +
  "GROUP ORDER BY HAVING LIMIT OFFSET ASC DESC AS PREFIX BASE EXISTS NOT IN UNDEF COUNT SUM AVG MIN MAX SAMPLE GROUP_CONCAT " +
  "REGEX STR LANG LANGMATCHES DATATYPE BOUND IRI STRLEN SUBSTR UCASE LCASE CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER CONCAT REPLACE " +
  "ABS ROUND CEIL FLOOR NOW YEAR MONTH DAY HOURS MINUTES SECONDS MD5 SHA256 COALESCE IF STRDT STRLANG SAMETERM ISIRI ISBLANK ISLITERAL ISNUMERIC").split(" ");

export function completions(words) {
  return (context) => {
    const variable = context.matchBefore(/[?$]\w*/);
    if (variable) return { from: variable.from, options: variables(context), validFor: /^[?$]\w*$/ };
    const name = context.matchBefore(/[A-Za-z][\w-]*:[\w.-]*/);
    if (name) return { from: name.from, options: names(words, context), validFor: /^[\w-]+:[\w.-]*$/ };
    const word = context.matchBefore(/[A-Za-z_][\w-]*/);
    if (!word && !context.explicit) return null;
    return {
      from: word ? word.from : context.pos,
      options: [
        ...names(words, context),
        ...Object.entries(words.prefixes).map(([prefix, namespace]) => ({ label: prefix + ":", detail: namespace, type: "namespace", boost: 1, apply: withPrefix(prefix, prefix + ":", namespace) })),
        ...keywords.map((label) => ({ label, type: "keyword", boost: -1 })),
      ],
      validFor: /^[\w-]*:?[\w.-]*$/,
    };
  };
}

function variables(context) {
  const seen = new Set(context.state.doc.toString().match(/[?$]\w+/g));
  seen.delete(context.matchBefore(/[?$]\w*/)?.text);
  return [...seen].map((label) => ({ label, type: "variable" }));
}

function names(words, context) {
  const text = context.state.doc.toString();
  const declared = { ...words.prefixes };
  for (const [, prefix, namespace] of text.matchAll(/PREFIX\s+([\w-]*):\s*<([^>]*)>/gi)) declared[prefix] = namespace;
  const options = [];
  const add = (list, type) => {
    for (const { iri, count: n } of list) {
      for (const [prefix, namespace] of Object.entries(declared)) {
        const local = iri.slice(namespace.length);
        if (namespace && iri.startsWith(namespace) && /^[\w-]+$/.test(local)) {
          const label = prefix + ":" + local;
          options.push({ label, detail: count(n), type, boost: Math.min(Math.log10(n + 1), 9), apply: withPrefix(prefix, label, namespace) });
          break;
        }
      }
    }
  };
  add(words.predicates, "property");
  add(words.classes, "class");
  return options;
}

// Inserts text, and the declaration of its prefix if the query lacks it.
function withPrefix(prefix, text, namespace) {
  return (view, _completion, from, to) => {
    const doc = view.state.doc.toString();
    const changes = [{ from, to, insert: text }];
    let shift = 0;
    if (!new RegExp(`PREFIX\\s+${prefix}:`, "i").test(doc)) {
      const line = `PREFIX ${prefix}: <${namespace}>\n`;
      changes.unshift({ from: 0, insert: line });
      shift = line.length;
    }
    view.dispatch({ changes, selection: { anchor: from + shift + text.length } });
  };
}
