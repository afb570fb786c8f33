"use strict";
// Uploads with a bar for each document: forms with data-upload send their file by themselves, can be dropped
// onto, stopped and tried again. Without script they are ordinary forms.
(() => {
  const megabytes = (n) => (n / 1e6).toFixed(1);
  let running = 0;
  let done = 0;

  // element makes one with a class and a text.
  function element(name, className, text) {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text) e.textContent = text;
    return e;
  }

  // row shows how far the upload of a file is.
  function row(form, file) {
    const item = element("li", "uploading stack tight");
    const line = element("div", "row sm");
    const state = element("span", "muted push");
    const stop = element("button", "btn plain small", "Cancel");
    stop.type = "button";
    stop.setAttribute("aria-label", "Cancel the upload of " + file.name);
    const bar = element("progress");
    bar.max = 100;
    bar.setAttribute("aria-label", "Upload of " + file.name);
    line.append(element("span", "id", file.name), state, stop);
    item.append(line, bar);
    form.nextElementSibling.append(item);
    return { item, state, stop, bar };
  }

  function send(form, file) {
    const { item, state, stop, bar } = row(form, file);
    const fail = (text, again) => {
      bar.remove();
      item.classList.add("err");
      state.textContent = text;
      say(file.name + ": " + text);
      stop.textContent = again ? "Try again" : "Dismiss";
      stop.setAttribute("aria-label", stop.textContent + ": " + file.name);
      stop.onclick = () => { item.remove(); if (again) send(form, file); };
      running--;
      finish();
    };
    running++;
    if (file.size > Number(form.dataset.most)) {
      fail("Too large: " + megabytes(file.size) + " MB of at most " + megabytes(form.dataset.most) + " MB. Choose another file.", false);
      return;
    }
    const body = new FormData();
    body.append("file", file);
    const call = new XMLHttpRequest();
    let quarter = 0;
    call.upload.onprogress = (event) => {
      const percent = Math.floor(100 * event.loaded / event.total);
      bar.value = percent;
      state.textContent = megabytes(event.loaded) + " of " + megabytes(event.total) + " MB, " + percent + "%";
      if (Math.floor(percent / 25) > quarter) {
        quarter = Math.floor(percent / 25);
        say(file.name + ", " + 25 * quarter + " percent uploaded");
      }
    };
    call.onload = () => {
      if (call.status === 201) {
        stop.remove();
        state.textContent = "Handed in";
        running--;
        done++;
        finish();
        return;
      }
      const text = (call.getResponseHeader("Content-Type") ?? "").startsWith("text/plain") ? call.responseText : "";
      fail(text || "It was not taken (" + call.status + ").", call.status >= 500);
    };
    call.onerror = () => fail("The connection broke.", true);
    call.onabort = () => fail("Cancelled.", true);
    stop.onclick = () => call.abort();
    call.open("POST", form.action);
    call.setRequestHeader("Accept", "text/plain");
    call.send(body);
  }

  // finish shows the page as it is now, when nothing is under way any more.
  function finish() {
    if (running > 0 || done === 0 || document.querySelector(".uploading.err")) return;
    location.hash = "documents";
    location.reload();
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-upload]");
    const input = form?.querySelector("input[type=file]");
    if (!input?.files.length) return;
    event.preventDefault();
    send(form, input.files[0]);
    input.value = "";
  });

  // Files that are dropped go to the form below them, further ones to the forms after it.
  const over = (event) => event.dataTransfer?.types.includes("Files") && event.target.closest("form[data-upload]");
  document.addEventListener("dragover", (event) => {
    const form = over(event);
    if (!form) return;
    event.preventDefault();
    form.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    const form = event.target.closest?.("form[data-upload]");
    if (form && !form.contains(event.relatedTarget)) form.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    const form = over(event);
    if (!form) return;
    event.preventDefault();
    form.classList.remove("over");
    const forms = [...document.querySelectorAll("form[data-upload]")];
    const from = forms.indexOf(form);
    const files = [...event.dataTransfer.files];
    for (const [i, file] of files.entries()) if (forms[from + i]) send(forms[from + i], file);
    if (files.length > forms.length - from) say("Each document takes one file; the others were left out.");
  });

  // What only script can do is shown where there is script.
  const show = () => { for (const e of document.querySelectorAll("[data-script]")) e.hidden = false; };
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("htmx:after:swap", show);
  document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) print(); });
})();
