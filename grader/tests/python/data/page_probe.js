// Appended to a copy of a page: opens all folds, finds layout faults, and reports them to the surrounding page.
addEventListener("load", async () => {
  const wrong = [];
  const name = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""}${e.className && e.className.baseVal === undefined ? "." + e.className : ""} “${(e.textContent || "").trim().slice(0, 30)}”`;
  addEventListener("error", (e) => wrong.push(`error: ${e.message}`));
  addEventListener("unhandledrejection", (e) => wrong.push(`rejected: ${e.reason}`));
  const button = document.querySelector("[data-folds=open]");
  if (button) button.click();
  document.querySelectorAll("details").forEach((fold) => { if (button && !fold.open) wrong.push(`a fold stays closed: ${name(fold)}`); fold.open = true; });
  // Visits every position of every slider, with its picture.
  for (const input of document.querySelectorAll("input[type=range]")) {
    for (let n = Number(input.min); n <= Number(input.max); ++n) {
      input.value = n;
      input.dispatchEvent(new Event("input"));
    }
    await new Promise((done) => setTimeout(done, 5));
  }
  for (let tries = 0; tries < 200 && document.querySelector("[data-packed]"); ++tries) await new Promise((done) => setTimeout(done, 10));
  await new Promise((done) => setTimeout(done, 50));
  for (const frame of document.querySelectorAll(".frame:not([hidden])")) if (!frame.querySelector("svg")) wrong.push(`no picture in ${name(frame)}`);
  if (document.querySelector("[data-packed]")) wrong.push("a picture stays packed");
  // No element may be wider than the window.
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide in ${innerWidth}`);
  for (const e of document.body.querySelectorAll("*")) {
    if (e.closest(".wide") && !e.classList.contains("wide")) continue;
    const box = e.getBoundingClientRect();
    if (box.width && box.right > innerWidth + 1) wrong.push(`wider than the window: ${name(e)}`);
  }
  if (innerWidth < 600) for (const code of document.querySelectorAll(".source code")) if (code.getBoundingClientRect().right > innerWidth) wrong.push(`a line of code is not seen: ${name(code)}`);
  for (const link of document.querySelectorAll("a[href]")) {
    const at = link.getAttribute("href");
    if (at[0] !== "#" || !document.getElementById(at.slice(1))) wrong.push(`a link leads nowhere: ${at}`);
  }
  for (const e of document.querySelectorAll("[src],link[href]")) wrong.push(`loads something: ${name(e)}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id is there twice");
  for (const svg of document.querySelectorAll("svg")) if (svg.getAttribute("role") !== "img" || (svg.getAttribute("aria-label") || document.getElementById(svg.getAttribute("aria-labelledby"))?.textContent || "").length < 20) wrong.push("a picture without words");
  for (const input of document.querySelectorAll("input,button")) if (!input.labels?.length && !input.textContent.trim()) wrong.push(`no label: ${name(input)}`);
  for (const box of document.querySelectorAll(".wide")) if (box.scrollWidth > box.clientWidth + 1 && box.tabIndex !== 0) wrong.push("what scrolls cannot be reached by keyboard");
  let level = 0;
  for (const h of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) { const now = Number(h.tagName[1]); if (now > level + 1) wrong.push(`from a heading ${level} to ${now}: ${name(h)}`); level = now; }
  // Contrast as in WCAG 2.2: 4.5, or 3 for large text and graphics.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
  const light = (c) => { const [r, g, b] = [...c].slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, v = rgb(c); if (v[3] === 255) return v; } return rgb("#fff"); };
  const seen = new Set();
  for (const e of document.body.querySelectorAll("*")) {
    if (!e.getClientRects().length) continue;
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || e.closest("script,title,desc")) continue;
    const style = getComputedStyle(e), svg = e.closest("svg");
    let back = ground(svg || e);
    if (svg && e.tagName === "text") {  // the shape below it in the picture
      const box = e.getBBox(), at = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
      for (const shape of svg.querySelectorAll("rect,path")) {
        const look = getComputedStyle(shape);
        if (look.fill !== "none" && Number(look.fillOpacity) === 1 && shape.isPointInFill(at)) back = rgb(look.fill);
      }
    }
    const got = contrast(rgb(svg ? style.fill : style.color), back);
    const key = `${svg ? style.fill : style.color} on ${back}`;
    if (got < 4.5 && !seen.has(key)) { seen.add(key); wrong.push(`contrast ${got.toFixed(2)}, ${key}: ${name(e)}`); }
  }
  parent.postMessage({ width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches, folds: document.querySelectorAll("details").length, links: document.querySelectorAll("a[href]").length, sliders: document.querySelectorAll("input[type=range]").length, pictures: document.querySelectorAll("svg").length, wrong }, "*");
});
