"use strict";
// A form is not sent while the device is offline: the browser would show its own error in place of the page, and of what
// was typed there.
(() => {
  const over = () => document.getElementById("offline")?.remove();
  document.addEventListener("submit", (event) => {
    if (navigator.onLine || event.target.getAttribute("method")?.toLowerCase() !== "post") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    over();
    const text = document.createElement("p");
    text.id = "offline";
    text.className = "toast";
    text.textContent = "You are offline. Nothing was sent; what you typed is still here. Send it again once you are online.";
    document.body.append(text);
    say(text.textContent);
  }, true);
  addEventListener("online", over);
})();
