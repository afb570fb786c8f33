"use strict";
// The form of a request, addresses, and the time zone of somebody new.
(() => {
  const count = (area) => {
    const words = area.value.split(/\s+/).filter(Boolean).length;
    document.getElementById(area.dataset.words).textContent = words === 1 ? "1 word" : words + " words";
  };
  // What the parts of an address are called where it goes.
  const name = (country) => {
    const option = [...country.list?.options ?? []].find((o) => o.value.toLowerCase() === country.value.trim().toLowerCase());
    for (const field of ["state", "postal_code"]) {
      const label = country.closest("[data-address]")?.querySelector(`[data-names="${field}"]`);
      if (!label) continue;
      label.dataset.usual ??= field === "state" ? "State, province or region" : "Postal code";
      label.textContent = option?.dataset[field] ?? label.dataset.usual;
    }
  };
  const start = () => {
    for (const area of document.querySelectorAll("[data-words]")) count(area);
    for (const zones of document.querySelectorAll("[data-guess-zone]")) {
      const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
      if (zones.value === "UTC" && [...zones.options].some((o) => o.value === here)) zones.value = here;
    }
  };
  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("htmx:after:swap", start);
  document.addEventListener("input", ({ target }) => {
    if (target.dataset?.words) count(target);
    if (target.name === "country") name(target);
  });
  document.addEventListener("change", ({ target }) => {
    const most = Number(target.dataset?.most);
    if (!most) return;
    const large = [...target.files].some((file) => file.size > most);
    target.setCustomValidity(large ? "This file is larger than the limit above." : "");
    if (large) target.reportValidity();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-reuse]");
    if (!button) return;
    event.preventDefault();
    const area = button.form.elements.requester_abstract;
    area.value = document.getElementById(button.dataset.reuse).textContent;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.dispatchEvent(new Event("change", { bubbles: true }));
    button.closest("details").open = false;
    area.focus();
  });
})();
