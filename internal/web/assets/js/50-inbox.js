"use strict";
// A form with data-select says how many of its boxes are checked, and can check all of them.
(() => {
  const boxes = (form) => [...form.elements].filter((e) => e.type === "checkbox" && e.name === form.dataset.select);

  function tell(form) {
    const all = boxes(form);
    const n = all.filter((box) => box.checked).length;
    const box = form.querySelector("[data-select-all] input");
    box.checked = n > 0 && n === all.length;
    box.indeterminate = n > 0 && n < all.length;
    form.querySelector("[data-selected]").textContent = n ? n + " selected" : `Select ${form.dataset.things ?? "requests"}, with Shift a range`;
  }
  const begin = () => document.querySelectorAll("form[data-select]").forEach(tell);
  document.addEventListener("DOMContentLoaded", begin);
  document.addEventListener("htmx:after:swap", begin);
  window.addEventListener("pageshow", begin);
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (!form?.dataset.select) return;
    const id = event.target.dataset.selects; // what is typed for a row selects the row
    if (id) boxes(form).filter((box) => box.value === id).forEach((box) => { box.checked = event.target.value !== ""; });
    if (event.target.closest("[data-select-all]")) boxes(form).forEach((box) => { box.checked = event.target.checked; });
    tell(form);
  });

  // With Shift, a click on a box does the same to all boxes since the one clicked before.
  let last;
  document.addEventListener("click", (event) => {
    const form = event.target.form;
    if (!form?.dataset.select || event.target.name !== form.dataset.select) return;
    const all = boxes(form);
    const ends = [all.indexOf(last), all.indexOf(event.target)].sort((a, b) => a - b);
    if (event.shiftKey && ends[0] >= 0) {
      all.slice(ends[0], ends[1] + 1).forEach((box) => { box.checked = event.target.checked; });
      tell(form);
    }
    last = event.target;
  });

  // One menu of a form is open at a time, and Escape closes it.
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.(".fold[open]")) return;
    document.querySelectorAll(".fold[open]").forEach((fold) => { if (fold !== event.target) fold.open = false; });
  }, true);
  document.addEventListener("keydown", (event) => {
    const fold = event.key === "Escape" && event.target.closest?.(".fold[open]");
    if (!fold) return;
    fold.open = false;
    fold.querySelector("summary").focus();
  });
})();
