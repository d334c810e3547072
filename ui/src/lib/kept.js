// Values that the browser stores between pages. If storage is full or forbidden, nothing is stored and nothing breaks.

export function read(name, otherwise) {
  try {
    const raw = localStorage.getItem("odarchive." + name);
    return raw === null ? otherwise : JSON.parse(raw);
  } catch {
    return otherwise;
  }
}

export function write(name, value) {
  try {
    localStorage.setItem("odarchive." + name, JSON.stringify(value));
  } catch {
    // nothing is stored
  }
}
