// Saves what a script made as a file.

export function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const saveText = (text, name, type) => saveBlob(new Blob([text], { type: type + ";charset=utf-8" }), name);
