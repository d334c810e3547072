// Formats numbers as the server does: narrow spaces between groups of digits, sizes in powers of 1000.

export const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

export function bytes(n) {
  if (n < 1000) return n + " B";
  for (const unit of ["KB", "MB", "GB", "TB"]) {
    n /= 1000;
    if (n < 999.5) return n.toFixed(n < 9.95 ? 1 : 0) + " " + unit;
  }
  return (n / 1000).toFixed(1) + " PB";
}

export const files = (n) => (n === 1 ? "1 file" : count(n) + " files");

export const seconds = (ms) => (ms < 1000 ? Math.round(ms) + " ms" : (ms / 1000).toFixed(1) + " s");
