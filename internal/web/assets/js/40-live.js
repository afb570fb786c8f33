"use strict";
// News while a page is open: the bell counts, a screen reader is told politely, and the page of a request says
// when something changed in it. However many tabs there are, one of them listens for all.
(() => {
  const address = document.body.dataset.stream;
  if (!address || !window.EventSource) return;
  const others = window.BroadcastChannel && new BroadcastChannel("aliquot-live");

  function count(n) {
    const bell = document.getElementById("bell"), told = n > 99 ? "99+" : n; // as pages say it
    bell?.setAttribute("aria-label", n ? `Notifications, ${told} unread` : "Notifications");
    for (const link of [bell, document.querySelector(".tabbar a[href='/notifications']")]) {
      if (!link) continue;
      let badge = link.querySelector(".count");
      if (!n) {
        badge?.remove();
        continue;
      }
      if (!badge) {
        badge = document.createElement("span");
        badge.className = "count hot";
        if (link === bell) badge.setAttribute("aria-hidden", "true");
        link.append(badge);
      }
      badge.textContent = told;
    }
    for (const badge of document.querySelectorAll("[data-unread]")) {
      badge.textContent = n;
      badge.classList.toggle("hot", n > 0);
    }
  }

  // note shows a line that leads to the page as it is now; it takes nothing away that somebody types.
  function note(where, text, href) {
    if (!where || document.getElementById("fresh")) return;
    const line = document.createElement("p");
    line.id = "fresh";
    line.className = "note info";
    line.setAttribute("role", "status");
    const words = document.createElement("span");
    words.append(text + " ");
    const link = document.createElement("a");
    link.href = href;
    link.textContent = "Show it";
    words.append(link);
    line.append(words);
    where.prepend(line);
  }

  // busy reports whether somebody works in a part of the page: a field is in use or changed, or a file is uploaded.
  function busy(part) {
    if (part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")) return true;
    if (part.querySelector(".uploading")) return true;
    return [...part.querySelectorAll("input, textarea, select")].some((field) => {
      if (field.type === "file") return field.files.length > 0;
      if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
      if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
      const first = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
      return first && field.value !== first.value;
    });
  }

  // follow brings the parts of the page marked data-follows up to date, except those in which somebody works. It
  // reports whether all of them are.
  async function follow(href) {
    if (document.getElementById("errors")) return false;
    const answer = await fetch(href);
    if (!answer.ok || answer.redirected) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    let all = true;
    for (const part of document.querySelectorAll("[data-follows]")) {
      const fresh = page.getElementById(part.id);
      if (!fresh || busy(part)) {
        all = false;
        continue;
      }
      const open = [...part.querySelectorAll("details")].map((details) => details.open);
      part.replaceWith(document.adoptNode(fresh));
      for (const [i, details] of [...fresh.querySelectorAll("details")].entries()) details.open ||= open[i] ?? false;
      for (const hidden of fresh.querySelectorAll("[data-script]")) hidden.hidden = false;
      htmx.process(fresh);
    }
    if (all) document.title = page.title;
    return all;
  }

  const hear = {
    unread: (data) => count(data.unread),
    notification: (data) => {
      say("New: " + data.text);
      const here = location.pathname;
      if (data.address && here === data.address) {
        const main = document.getElementById("main");
        follow(here + location.search).catch(() => false).then((all) => {
          if (!all) note(main, "Something changed in this request. What you typed is kept.", here);
        });
      }
      note(document.querySelector("[data-fresh]"), data.text + ".", here + location.search);
    },
  };

  let source;
  function connect() {
    source = new EventSource(address);
    for (const type of Object.keys(hear)) {
      source.addEventListener(type, (event) => {
        const data = JSON.parse(event.data);
        hear[type](data);
        others?.postMessage({ type, data });
      });
    }
    source.addEventListener("error", () => { // refused: the browser does not come again by itself
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 60000);
    });
  }
  if (others) others.onmessage = (event) => hear[event.data.type]?.(event.data.data);
  const listen = () => { connect(); return new Promise(() => {}); };
  // A page that is left before its turn comes has its request refused; the next page asks for itself.
  if (others && navigator.locks) navigator.locks.request("aliquot-live", listen).catch(() => {});
  else listen();

  // Who follows a notification has read it.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-reads]");
    if (link) navigator.sendBeacon(link.dataset.reads, new URLSearchParams());
  });
})();
