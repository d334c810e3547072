// The basket: version ids stored in the browser. The address of the basket page contains them all.

import { read, write } from "../lib/kept.js";
import { root as home } from "../lib/root.js";

const most = 500;
const ids = () => read("basket", []);
const address = (list) => home + "/basket" + (list.length ? "?" + new URLSearchParams(list.map((id) => ["id", id])) : "");

export function basket(root) {
  if (root === document) openOwnBasket();
  for (const button of root.querySelectorAll("[data-basket-add]")) {
    button.hidden = false;
    label(button);
    button.addEventListener("click", () => {
      const id = button.dataset.basketAdd;
      const now = ids();
      write("basket", now.includes(id) ? now.filter((other) => other !== id) : [...now, id].slice(-most));
      label(button);
      showCount();
    });
  }
  for (const link of root.querySelectorAll("[data-basket-remove]")) {
    link.addEventListener("click", () => write("basket", ids().filter((id) => id !== link.dataset.basketRemove)));
  }
  showCount();
}

function label(button) {
  const inside = ids().includes(button.dataset.basketAdd);
  button.textContent = inside ? "Remove from basket" : "Add to basket";
  button.setAttribute("aria-pressed", String(inside));
}

function showCount() {
  const list = ids();
  for (const link of document.querySelectorAll("[data-basket-link]")) {
    link.hidden = list.length === 0;
    link.href = address(list);
    link.querySelector("[data-basket-count]").textContent = String(list.length);
  }
}

// Without ids in its address, the page shows the basket of this browser.
function openOwnBasket() {
  if (location.pathname === home + "/basket" && !location.search && ids().length) location.replace(address(ids()));
}
