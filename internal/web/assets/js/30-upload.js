"use strict";
// Uploads with a bar for each document: forms with data-upload send their file by themselves, can be dropped
// onto, stopped and tried again; a form with data-sends goes as a whole, with a bar for each of its files. Without
// script they are ordinary forms.
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

  // row shows in a list how far the upload of a file is, as tell says.
  function row(list, file) {
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
    list.append(item);
    let quarter = 0;
    const tell = (loaded, total) => {
      const percent = Math.floor(100 * loaded / total);
      bar.value = percent;
      state.textContent = megabytes(loaded) + " of " + megabytes(total) + " MB, " + percent + "%";
      if (Math.floor(percent / 25) > quarter) {
        quarter = Math.floor(percent / 25);
        say(file.name + ", " + 25 * quarter + " percent uploaded");
      }
    };
    return { item, state, stop, bar, tell };
  }

  // taken reports whether a field takes a file of its type: those that the attribute accept names, by type or ending. A
  // file without a type is for the server to judge.
  function taken(input, file) {
    if (!input.dataset.kinds || !file.type) return true;
    return input.accept.split(",").some((kind) => kind === file.type || kind.startsWith(".") && file.name.toLowerCase().endsWith(kind));
  }

  // A file that the field does not take is not kept, and a sentence says so, before anything is sent.
  document.addEventListener("change", (event) => {
    const input = event.target.closest?.("input[type=file][data-kinds]");
    if (!input) return;
    const field = input.closest(".drop");
    field.parentNode.querySelector("[data-not-taken]")?.remove();
    const file = input.files[0];
    if (!file || taken(input, file)) return;
    const text = "“" + file.name + "” was not chosen. " + input.dataset.kinds;
    const line = element("p", "err", text);
    line.dataset.notTaken = "";
    field.before(line);
    say(text);
    input.value = "";
  });

  function send(form, file) {
    const { item, state, stop, bar, tell } = row(form.nextElementSibling, file);
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
    const input = form.querySelector("input[type=file]");
    if (!taken(input, file)) {
      fail(input.dataset.kinds, false);
      return;
    }
    const body = new FormData();
    body.append("file", file);
    const call = new XMLHttpRequest();
    call.upload.onprogress = (event) => tell(event.loaded, event.total);
    call.onload = () => {
      if (call.status === 201) {
        stop.remove();
        state.textContent = "Submitted";
        running--;
        done++;
        finish();
        return;
      }
      const text = (call.getResponseHeader("Content-Type") ?? "").startsWith("text/plain") ? call.responseText : "";
      fail(text || "Upload failed (" + call.status + ").", call.status >= 500);
    };
    call.onerror = () => fail("The connection was lost.", true);
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

  // sendWhole sends a form with its files, and shows what comes of it as without script, but that files stay chosen.
  function sendWhole(form, inputs) {
    const list = form.querySelector("[data-uploads]");
    const files = inputs.map((input) => input.files[0]);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    const body = new FormData(form);
    const call = new XMLHttpRequest();
    list.replaceChildren();
    const rows = files.map((file) => row(list, file));
    const end = (text) => {
      delete form.dataset.sending;
      const line = element("li", "err", text);
      list.replaceChildren(line);
      say(text);
    };
    form.dataset.sending = "";
    call.upload.onprogress = (event) => {
      let sent = event.loaded - (event.total - size); // the other fields go first
      for (const [i, file] of files.entries()) {
        rows[i].tell(Math.max(0, Math.min(sent, file.size)), file.size);
        sent -= file.size;
      }
    };
    call.upload.onload = () => { for (const { stop } of rows) stop.remove(); }; // it arrived: too late to take it back here
    call.onload = () => {
      const next = call.getResponseHeader("Location");
      if (call.status === 201 && next) location.assign(next);
      else if (call.status === 422) showAgain(call.responseText, inputs);
      else if (call.responseURL !== form.action) location.assign(call.responseURL); // to sign in
      else end("Upload failed (" + call.status + "). What you typed is still here.");
    };
    call.onerror = () => end("The connection was lost. What you typed and the files you chose are still here: send it again.");
    call.onabort = () => end("Cancelled. Nothing was sent; your files are still chosen.");
    for (const { stop } of rows) {
      stop.setAttribute("aria-label", "Cancel sending the form");
      stop.onclick = () => call.abort();
    }
    rows[0].stop.focus();
    call.open("POST", form.action);
    call.setRequestHeader("Accept", "text/plain");
    call.send(body);
  }

  // showAgain shows a form that was not taken. A file that is not what is wrong stays chosen.
  function showAgain(text, inputs) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const main = document.adoptNode(page.getElementById("main"));
    const kept = inputs.filter((input) => {
      const fresh = main.querySelector("#" + CSS.escape(input.id));
      const stays = fresh && !fresh.hasAttribute("aria-invalid");
      if (stays) fresh.replaceWith(input);
      return stays;
    });
    if (kept.length === inputs.length) main.querySelector("[data-gone]")?.remove();
    document.getElementById("main").replaceWith(main);
    document.title = page.title;
    htmx.process(main);
    document.dispatchEvent(new CustomEvent("htmx:after:swap"));
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-sends]");
    const inputs = [...form?.querySelectorAll("input[type=file]") ?? []].filter((input) => input.files.length);
    if (!inputs.length || event.submitter?.name) return; // a button with a name keeps no files
    event.preventDefault();
    if (!("sending" in form.dataset)) sendWhole(form, inputs);
  });
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
