"use strict";
(() => {
  const trouble = document.querySelector('[data-part="trouble"]');
  const parts = new Map([...document.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
  const address = document.body.dataset.stream;
  if (!address) {
    if (document.body.dataset.again) setTimeout(() => location.reload(), 5000);
    return;
  }

  // What has the focus keeps it, where it is there again.
  const replace = (part, text) => {
    if (part.innerHTML.trim() === text) return;
    const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
    part.innerHTML = text;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };
  const complain = (words) => {
    const told = document.createElement("p");
    told.textContent = words;
    trouble.replaceChildren(told);
  };

  let stream = null;
  const listen = () => {
    stream?.close();
    stream = new EventSource(`${address}?lang=${document.documentElement.lang}`);
    stream.onopen = () => trouble.replaceChildren();
    stream.onmessage = (event) => {
      for (const [name, text] of Object.entries(JSON.parse(event.data))) {
        if (parts.has(name)) replace(parts.get(name), text);
      }
    };
    stream.onerror = () => complain(stream.readyState === EventSource.CLOSED ? trouble.dataset.refused : trouble.dataset.silent);
  };
  // A page that nobody sees asks for nothing: the machine may be measured.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stream?.close();
    else listen();
  });
  addEventListener("pagehide", () => stream?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  if (!document.hidden) listen();
})();
