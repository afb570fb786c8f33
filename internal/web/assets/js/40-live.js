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

  const hear = {
    unread: (data) => count(data.unread),
    notification: (data) => {
      say("New: " + data.text);
      const here = location.pathname;
      if (data.address && here === data.address) note(document.getElementById("main"), "Something changed in this request.", here);
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
