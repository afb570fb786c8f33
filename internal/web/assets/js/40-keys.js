"use strict";
// Keyboard shortcuts, unless they are switched off. Never while somebody types. On a request, what a key does is
// marked with data-key; what is sent at once is asked first.
(() => {
  const places = { s: "/catalog", r: "/requests", l: "/labs", n: "/notifications" };
  let went = -Infinity; // when g was pressed; moments count from the beginning of the page
  const visible = (element) => element.getClientRects().length > 0;
  const typing = (element) => element?.closest?.("input:not([type=checkbox],[type=radio]), textarea, select, [contenteditable]");
  const rows = () => [...document.querySelectorAll("main [data-rows] > *, main [data-row], main .hit, main .table tbody tr:not(.group)")].filter(visible);
  const link = (row) => row.querySelector("[data-open]") ?? row.querySelector("a[href]");

  function step(by) {
    const list = rows().filter(link);
    const at = list.findIndex((row) => row.contains(document.activeElement));
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by];
    if (!next) return;
    link(next).focus();
    next.scrollIntoView({ block: "nearest" });
  }
  function select() {
    const row = rows().find((one) => one.contains(document.activeElement));
    row?.querySelector("input[type=checkbox]")?.click();
  }
  function act(key) {
    const target = [...document.querySelectorAll(`[data-key="${key}"]`)].find(visible);
    if (!target) return false;
    if (target.matches("textarea, input")) target.focus();
    else if (target.matches("a, [popovertarget], summary, [type=button]") || confirm(target.textContent.trim() + "?")) target.click();
    return true;
  }
  function search() {
    const field = [...document.querySelectorAll("main input[type=search], .bar input[type=search]")].find(visible);
    if (!field) location.assign(places.s);
    field?.focus();
    field?.select();
  }
  // part gives an element of another page; without it, goes there.
  async function part(address, id) {
    try {
      const answer = await fetch(address);
      const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
      if (answer.ok && found) return found;
    } catch { // there is no connection, or the page is being left
      say("Not shown: no connection");
      return null;
    }
    location.assign(address + "#" + id);
    return null;
  }
  // find opens the field that finds everything over the page.
  let finding = false;
  async function find() {
    if (finding || document.getElementById("find-q")) return document.getElementById("find-q")?.select();
    finding = true;
    const form = await part("/find", "finder");
    finding = false;
    if (!form) return;
    const box = document.createElement("dialog");
    box.className = "dialog find-dialog";
    box.setAttribute("aria-label", "Find anything");
    box.append(document.adoptNode(form));
    document.body.append(box);
    box.addEventListener("close", () => box.remove());
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    box.showModal();
    const field = box.querySelector("input");
    suggests(field);
    field.focus();
  }
  async function help() {
    let box = document.getElementById("keys-shown");
    if (!box) {
      const list = await part("/help", "keys");
      if (!list) return;
      box = document.createElement("div");
      box.id = "keys-shown";
      box.className = "dialog";
      box.popover = "auto";
      box.setAttribute("role", "dialog");
      box.setAttribute("aria-label", "Keyboard shortcuts");
      box.tabIndex = -1;
      box.append(...list.children);
      document.body.append(box);
    }
    box.togglePopover();
    if (box.matches(":popover-open")) box.focus();
  }

  document.addEventListener("keydown", (event) => {
    if ("keys" in document.body.dataset && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "k") {
      event.preventDefault();
      find();
      return;
    }
    if (!("keys" in document.body.dataset) || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (event.key === "Escape") {
      document.activeElement?.blur?.();
      return;
    }
    if (typing(event.target)) return;
    if (event.timeStamp - went < 1500 && places[event.key]) {
      event.preventDefault();
      location.assign(places[event.key]);
      return;
    }
    went = -Infinity;
    switch (event.key) {
      case "/": search(); break;
      case "g": went = event.timeStamp; break;
      case "j": step(1); break;
      case "k": step(-1); break;
      case "x": select(); break;
      case "?": help(); break;
      case "a": case "r": case "m": if (act(event.key)) break; return;
      default: return;
    }
    event.preventDefault();
  });
})();
