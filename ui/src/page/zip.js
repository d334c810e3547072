import { plan, planText } from "../lib/zip.js";

export function zipButtons(root) {
  for (const button of root.querySelectorAll("[data-zip]")) {
    plan(button.form.elements.q.value)
      .then((p) => {
        if (p.none) {
          button.disabled = true;
          button.title = p.none;
        } else button.textContent = `Download all as ZIP (${planText(p)})`;
      })
      .catch(() => {}); // the button works without the size
  }
}
