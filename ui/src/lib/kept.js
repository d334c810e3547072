// What the browser keeps between pages. Storage may be full or forbidden: then nothing is kept and nothing breaks.

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
    // nothing is kept
  }
}
