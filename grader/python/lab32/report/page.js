"use strict";
// Without this script every fold is open and the worst request of each line is shown; the other requests are compressed.
const inflate = async (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
};
const unpack = async (access) => {
  const id = access.dataset.packed;
  if (!id) return;
  const figures = await inflate(document.getElementById(id).textContent);
  for (const frame of access.querySelectorAll(".frame:empty")) frame.innerHTML = figures.shift();
  delete access.dataset.packed;
};
for (const slide of document.querySelectorAll(".slide")) {
  const input = slide.querySelector("input"), output = slide.querySelector("output");
  const access = slide.parentElement, frames = access.querySelectorAll(".frame");
  input.addEventListener("input", async () => {
    frames.forEach((frame, n) => { frame.hidden = n !== Number(input.value); });
    output.textContent = `${Number(input.value) + 1} of ${frames.length}`;
    await (access.unpacked ??= unpack(access));  // unpacks only once, however fast the slider moves
    sideways(access);
    input.setAttribute("aria-valuetext", frames[input.value].querySelector("[data-title]").dataset.title);
  });
}
// A question's form: the answer is compared as a hash (lab32/questions.py); then the pictures are shown.
const sealed = (text) => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash.toString(16).padStart(16, "0");
};
for (const form of document.querySelectorAll("form.question"))
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(form).get("answer"), name = sealed(`${form.dataset.key}:${Number(given)}`);
    const [pictures, misconceptions, reason] = await inflate(form.dataset.revealed);
    form.querySelector("output").textContent = name === form.dataset.answer ? "Right."
      : ["It is not " + (form.querySelector("[type=radio]") ? "option " : "") + given + ".", misconceptions[name], reason].filter(Boolean).join(" ");
    const revealed = form.querySelector(".revealed");
    revealed.innerHTML = pictures;
    sideways(revealed);
  });
for (const button of document.querySelectorAll("[data-folds]"))
  button.addEventListener("click", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = button.dataset.folds === "open";
  });
// An element that does not scroll needs neither keyboard focus nor a group name.
const sideways = (within) => {
  for (const box of within.querySelectorAll(".wide"))
    if (box.clientWidth) {
      box.dataset.label ??= box.getAttribute("aria-label");
      const how = { tabindex: "0", role: "group", "aria-label": box.dataset.label };
      for (const [name, value] of Object.entries(how))
        if (box.scrollWidth > box.clientWidth) box.setAttribute(name, value);
        else box.removeAttribute(name);
    }
};
addEventListener("toggle", (e) => sideways(e.target), true);
addEventListener("resize", () => sideways(document));
sideways(document);
// A link into a fold opens it; printing opens all folds.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", reveal);
reveal();
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
