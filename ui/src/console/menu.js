// A button that opens a list of choices. Escape or a click elsewhere closes it.

import { el } from "../lib/dom.js";

/** items gives the choices as [name, about, act] each time when the list opens. */
export function menu(title, items) {
  const list = el("div.menu", { hidden: true });
  const opener = el("button.plain", { type: "button", "aria-expanded": "false", onclick: () => toggle(list.hidden) }, title);
  const node = el("span.pop", { onkeydown: (e) => e.key === "Escape" && (toggle(false), opener.focus()) }, opener, list);
  function toggle(open) {
    list.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const entries = items();
    list.replaceChildren(
      ...(entries.length ? entries.map(([name, about, act]) => el("button", { type: "button", title: about, onclick: () => (toggle(false), opener.focus(), act()) }, name)) : [el("span.quiet", {}, "Nothing yet.")]),
    );
    list.firstElementChild.focus?.();
  }
  document.addEventListener("click", (e) => !node.contains(e.target) && toggle(false));
  return node;
}
