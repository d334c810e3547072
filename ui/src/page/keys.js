// "/" moves to the search field, as on many sites.
export function searchKey() {
  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.isContentEditable || target.shadowRoot || /^(input|textarea|select)$/i.test(target.tagName)) return;
    const field = [...document.querySelectorAll("[data-key='/']")].find((f) => f.offsetParent !== null);
    if (field) {
      event.preventDefault();
      field.focus();
    }
  });
}
