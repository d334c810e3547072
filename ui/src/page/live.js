// Refreshes the marked part of a page while it is visible: fetches the page again and replaces the part.

export function live(enhance) {
  const part = document.querySelector("[data-live]");
  if (!part) return;
  const every = Number(part.dataset.live);
  const mark = () => document.querySelectorAll("[data-live-mark]").forEach((m) => (m.hidden = false));
  mark();
  setInterval(async () => {
    if (document.hidden || part.querySelector(":focus, :hover a:hover") || getSelection()?.type === "Range") return;
    const response = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById(part.id);
    if (!fresh) return;
    const scrolled = [...part.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
    part.replaceChildren(...fresh.childNodes);
    [...part.querySelectorAll(".scroll")].forEach((s, i) => (s.scrollLeft = scrolled[i] || 0));
    enhance(part);
    mark();
  }, every);
}
