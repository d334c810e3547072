// Tries the API on its page: a form per route, and the answer below it.

import { el } from "./lib/dom.js";
import { bytes, seconds } from "./lib/format.js";

const shown = 20_000; // characters of an answer shown

for (const form of document.querySelectorAll("form[data-try]")) {
  for (const part of form.querySelectorAll("[data-send]")) part.hidden = part.disabled = false;
  const out = el("div", { role: "status" });
  form.append(out);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { method, path } = form.dataset;
    const data = new FormData(form);
    const query = new URLSearchParams();
    let address = path;
    let body;
    const headers = {};
    for (const [name, value] of data) {
      const place = form.elements[name].dataset.in;
      if (value === "" || !place) continue;
      if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(value));
      else if (place === "header") headers[name] = value;
      else if (place === "body") [body, headers["Content-Type"]] = [value, form.elements[name].dataset.type];
      else query.append(name, value);
    }
    // The field of the token has no name, so that no browser puts it into an address or remembers it.
    const token = form.querySelector("[data-in=token]")?.value;
    if (token) headers.Authorization = "Bearer " + token;
    if (query.size) address += "?" + query;
    const begun = performance.now();
    try {
      const response = await fetch(address, { method, headers, body });
      const type = response.headers.get("Content-Type") || "";
      const summary = el("p.quiet", {}, `${method} ${address}: ${response.status} ${response.statusText}, ${type}, ${seconds(performance.now() - begun)}`);
      if (/zip|octet|image|pdf/.test(type)) {
        const blob = await response.blob();
        out.replaceChildren(summary, el("p", {}, bytes(blob.size) + " of binary data. ", el("a", { href: address, download: true }, "Save")));
        return;
      }
      let text = await response.text();
      if (type.includes("json")) {
        try {
          text = JSON.stringify(JSON.parse(text), null, 2);
        } catch {
          // not JSON: shown as it is
        }
      }
      out.replaceChildren(summary, el("pre.source", { tabindex: "0" }, el("code", {}, text.length > shown ? text.slice(0, shown) + "\n…" : text)));
    } catch (error) {
      out.replaceChildren(el("p.bad", {}, String(error)));
    }
  });
}
