"use strict";
// Without it every fold opens and the worst request of each line is shown; the others are packed.
const unpack = async (box) => {
  if (!box || !box.dataset.packed) return;
  const bytes = Uint8Array.from(atob(box.dataset.packed), (c) => c.charCodeAt(0));
  delete box.dataset.packed;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  box.innerHTML = await new Response(stream).text();
};
for (const slide of document.querySelectorAll(".slide")) {
  const input = slide.querySelector("input"), output = slide.querySelector("output");
  const frames = slide.parentElement.querySelectorAll(".frame");
  input.addEventListener("input", () => {
    frames.forEach((frame, n) => { frame.hidden = n !== Number(input.value); });
    unpack(frames[input.value].querySelector("[data-packed]"));
    output.textContent = `${Number(input.value) + 1} of ${frames.length}`;
    input.setAttribute("aria-valuetext", frames[input.value].dataset.title);
  });
}
for (const button of document.querySelectorAll("[data-folds]"))
  button.addEventListener("click", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = button.dataset.folds === "open";
  });
// A link into a fold opens it; paper has no folds.
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
