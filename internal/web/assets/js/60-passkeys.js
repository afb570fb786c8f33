"use strict";
// Passkeys. A form with data-passkey has in data-options what its device is asked, to create a passkey or to get a
// signature; the answer goes into its field credential.
(() => {
  const reasons = {
    NotAllowedError: "Nothing was signed: it was cancelled, took too long, or the device cannot check that it is you.",
    InvalidStateError: "This device has a passkey of yours already.",
    SecurityError: "Passkeys do not work at this address. Open Aliquot at its usual address, by name and over https.",
  };
  const start = () => {
    for (const text of document.querySelectorAll("[data-passkey-says]")) {
      text.hidden = Boolean(window.PublicKeyCredential?.parseCreationOptionsFromJSON);
      if (!text.hidden) text.textContent = "This browser cannot use passkeys. Use a current version of another one.";
    }
  };
  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("htmx:after:swap", start);
  document.addEventListener("submit", async (event) => {
    const form = event.target, wants = form.dataset?.passkey;
    if (!wants || form.elements.credential.value) return;
    event.preventDefault();
    const says = form.querySelector("[data-passkey-says]");
    says.hidden = true;
    try {
      const options = JSON.parse(form.dataset.options);
      const made = wants === "create"
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      form.elements.credential.value = JSON.stringify(made.toJSON());
      form.submit();
    } catch (error) {
      says.textContent = reasons[error.name] ?? "The device did not answer: " + error.message;
      says.hidden = false;
    }
  });
})();
