"use strict";
// Forms with data-draft save themselves on the server while somebody types. An element in them with
// data-saved says how that goes.
(() => {
  const wait = 1000;
  const timers = new WeakMap();
  const status = (form, text) => { const e = form.querySelector("[data-saved]"); if (e) e.textContent = text; };

  async function save(form) {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.append(name, value);
    fields.set("draft", form.dataset.draft);
    fields.set("draft_title", form.dataset.draftTitle ?? document.querySelector("h1").textContent.trim());
    status(form, "Saving…");
    try {
      const answer = await fetch("/drafts/save", { method: "POST", body: fields });
      if (!answer.ok || answer.redirected) throw answer.status;
      status(form, "Draft saved " + new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
    } catch {
      status(form, "Not saved: no connection. What you typed is still here.");
      later(form, 10 * wait);
    }
  }
  function later(form, delay) {
    clearTimeout(timers.get(form));
    timers.set(form, setTimeout(() => save(form), delay));
  }
  for (const type of ["input", "change"]) {
    document.addEventListener(type, (event) => {
      const form = event.target.form;
      if (form?.dataset.draft) later(form, wait);
    });
  }
  document.addEventListener("submit", (event) => clearTimeout(timers.get(event.target)));
})();
