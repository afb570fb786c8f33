"use strict";
// What every page has when there is script. Each page works without.
(() => {
  const live = document.createElement("p");
  live.className = "vh";
  live.setAttribute("role", "status");
  document.addEventListener("DOMContentLoaded", () => document.body.append(live));
  // say tells a screen reader.
  window.say = (text) => { live.textContent = ""; setTimeout(() => { live.textContent = text; }, 50); };

  // A saved reply goes into its field, behind what is typed there.
  document.addEventListener("click", (event) => {
    const reply = event.target.closest("[data-insert]");
    if (!reply) return;
    event.preventDefault();
    const field = document.getElementById(reply.dataset.insert);
    field.value = [field.value.trim(), reply.dataset.text].filter(Boolean).join("\n\n");
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });

  // Copying: a button names its text, or the element that has it.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy],[data-copy-from]");
    if (!button) return;
    event.preventDefault();
    const text = button.dataset.copy ?? document.getElementById(button.dataset.copyFrom).textContent.trim();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      say("Copying is not allowed here");
      return;
    }
    const use = button.querySelector("use");
    const was = use?.getAttribute("href");
    use?.setAttribute("href", was.replace(/#.*/, "#i-check"));
    say("Copied");
    setTimeout(() => use?.setAttribute("href", was), 2000);
  });

  // A form that could not be taken: what is wrong has the focus.
  document.addEventListener("DOMContentLoaded", () => document.getElementById("errors")?.focus());
  document.addEventListener("htmx:after:swap", () => document.getElementById("errors")?.focus());

  // Of tabs that do not all find room, the open one is in sight.
  document.addEventListener("DOMContentLoaded", () => {
    for (const here of document.querySelectorAll(".tabs [aria-current], .side-nav [aria-current]")) {
      const list = here.closest(".tabs, .side-nav ul"), place = list.getBoundingClientRect(), at = here.getBoundingClientRect();
      list.scrollLeft += at.left - place.left - (place.width - at.width) / 2;
    }
  });

  // A toast with an Undo goes when the time for it is over; another one once somebody is here, who can have read it.
  document.addEventListener("DOMContentLoaded", () => {
    for (const toast of document.querySelectorAll(".toast")) {
      const go = () => setTimeout(() => toast.remove(), 10000);
      if (toast.querySelector("form")) go();
      else for (const sign of ["pointerdown", "keydown", "wheel"]) addEventListener(sign, go, { once: true });
    }
  });
})();
