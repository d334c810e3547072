// Values that the browser stores between pages. If storage is full or forbidden, nothing is stored and nothing breaks.

import { root } from "./root.js";

const place = "odarchive." + (root && root + "."); // archives of one host have one storage

export function read(name, otherwise) {
  try {
    const raw = localStorage.getItem(place + name);
    return raw === null ? otherwise : JSON.parse(raw);
  } catch {
    return otherwise;
  }
}

/** Reports whether the value is stored. */
export function write(name, value) {
  try {
    localStorage.setItem(place + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
