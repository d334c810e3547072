// Asks the server how many files and bytes the zip of a query has, before its download.

import { bytes, files } from "./format.js";
import { root } from "./root.js";

const longestAddress = 6000;

/** Gives {files, bytes, zipBytes, leftOut}, or {none: "why"}; throws only where the request was aborted. */
export async function plan(query, signal) {
  const response = await fetch(root + "/api/v1/get/files/sparql/count", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "application/json" },
    body: new URLSearchParams({ q: query }),
    signal,
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) return { none: body.detail || body.title || response.statusText };
  if (!body.files) return { none: "The answer contains no file of this archive." };
  return body;
}

export const planText = (p) => `${files(p.files)}, ${bytes(p.zipBytes || p.bytes)}${p.leftOut ? `; ${p.leftOut} cannot be unpacked` : ""}`;

/** Starts the download; a long query is posted. */
export function download(query) {
  const long = query.length > longestAddress;
  const form = document.createElement("form");
  form.method = long ? "post" : "get";
  form.action = root + "/get/files/sparql";
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = "q";
  field.value = query;
  form.append(field);
  document.body.append(form);
  form.submit();
  form.remove();
}
