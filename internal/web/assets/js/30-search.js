"use strict";
// Fields suggest what there is while somebody types: a combobox as the ARIA practices have it. A suggestion leads to its
// address, or is entered; of a field that takes several, in place of the last.
(() => {
  const wait = 150, fewest = 2;
  let number = 0;

  function attach(input) {
    const box = input.closest("[data-suggest], .with");
    if (!box || input.getAttribute("role") === "combobox") return;
    const source = box.dataset.suggest ?? "/catalog/suggest", between = box.dataset.several;
    const typed = () => (between ? input.value.split(between).at(-1) : input.value).trim();
    const list = document.createElement("ul");
    list.id = "suggest-" + ++number;
    list.className = "suggest";
    list.hidden = true;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    box.append(list);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" })) input.setAttribute(name, value);

    let timer, call, at = -1;
    const options = () => [...list.children];
    const stop = () => {
      clearTimeout(timer);
      call?.abort();
    };
    const close = () => {
      stop();
      list.hidden = true;
      at = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    // mark chooses among the options that are shown, which no late answer replaces any more.
    const mark = (next) => {
      stop();
      at = next;
      for (const [i, option] of options().entries()) option.setAttribute("aria-selected", String(i === at));
      if (at < 0) input.removeAttribute("aria-activedescendant");
      else {
        input.setAttribute("aria-activedescendant", options()[at].id);
        options()[at].scrollIntoView({ block: "nearest" });
      }
    };
    const show = (found) => {
      list.replaceChildren(...found.map((one, i) => {
        const option = document.createElement("li");
        option.id = list.id + "-" + i;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        if (one.address) option.dataset.address = one.address;
        else option.dataset.value = one.value;
        const kind = document.createElement("small");
        kind.textContent = one.kind;
        option.append(document.createTextNode(one.text), kind);
        return option;
      }));
      at = -1;
      list.hidden = found.length === 0;
      input.setAttribute("aria-expanded", String(!list.hidden));
      if ("counted" in box.dataset) say(found.length ? found.length + " found" : "Nothing found");
    };
    async function ask() {
      call?.abort();
      call = new AbortController();
      const { signal } = call;
      try {
        const answer = await fetch(source + "?q=" + encodeURIComponent(typed()), { signal });
        if (!answer.ok) return;
        const found = await answer.json();
        if (!signal.aborted && document.activeElement === input) show(found);
      } catch { /* it was typed on, or there is no connection: the search works without */ }
    }
    const choose = ({ address, value }) => {
      if (address) return location.assign(address);
      input.value = between ? [...input.value.split(between).slice(0, -1).map((part) => part.trim()), value].join(between + " ") : value;
      close();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    input.addEventListener("input", () => {
      stop();
      if (typed().length < fewest) close();
      else timer = setTimeout(ask, wait);
    });
    input.addEventListener("keydown", (event) => {
      if (list.hidden) return;
      const n = options().length;
      if (event.key === "ArrowDown") mark((at + 1) % n);
      else if (event.key === "ArrowUp") mark(at <= 0 ? n - 1 : at - 1);
      else if (event.key === "Escape") close();
      else if (event.key === "Enter" && at >= 0) choose(options()[at].dataset);
      else {
        if (event.key === "Enter") close();
        return;
      }
      event.preventDefault();
    });
    list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) choose(option.dataset);
    });
    input.addEventListener("blur", close);
    input.form?.addEventListener("submit", close);
  }
  window.suggests = attach;
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("input[type=search], input[data-suggests]").forEach(attach));

  // On a phone, showing what was found closes the sheet of filters.
  document.addEventListener("click", (event) => {
    if (event.target.closest(".sheet .cta button")) event.target.closest(".sheet").hidePopover();
  });
})();
