// SPDX-License-Identifier: Apache-2.0
// What the page carries: labels, words, and the values of every panel; and how values become text and colour.

const byId = (id) => document.getElementById(id);
const page = JSON.parse(byId("page-data").textContent);
const words = page.words;
const rowCount = page.rows.length;
const columnCount = page.columns.length;

// Rows and columns that are the same list of tokens: pointing at one then means both its row and its column.
const sharedLabels = rowCount === columnCount && page.rows.every((text, i) => text === page.columns[i]);

// Panels in the order in which their values stand in the file.
const panels = [];
page.groups.forEach((group, g) => {
  group.items.forEach((name, i) => panels.push({ group: g, item: i, name, index: panels.length }));
});
const panelTitle = (panel) => `${words.group} ${page.groups[panel.group].name} · ${words.item} ${panel.name}`;

// ---- Values. A code is 16 bits, little endian: 0 to kLastCode are steps from low to high, the rest are named below.
const kLastCode = 65532;
const kMinusInfinity = 65533;
const kPlusInfinity = 65534;

const valueNodes = document.querySelectorAll("script.values");
const decoded = new Array(panels.length);

function codesOf(panel) {
  if (!decoded[panel.index]) {
    const bytes = atob(valueNodes[panel.index].textContent.trim());
    const codes = new Uint16Array(bytes.length / 2);
    for (let i = 0; i < codes.length; ++i) codes[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
    decoded[panel.index] = codes;
    valueNodes[panel.index].remove(); // The text is not needed again, and large pages need the memory.
  }
  return decoded[panel.index];
}

function valueOf(code) {
  if (code <= kLastCode) return page.values.low + code * page.values.step;
  if (code === kMinusInfinity) return -Infinity;
  return code === kPlusInfinity ? Infinity : NaN;
}

// As many decimals as the steps between codes can carry: 4 for weights, fewer for wide ranges of scores.
const stepDigits = Math.floor(-Math.log10(page.values.step));
const decimals = Math.max(0, Math.min(stepDigits, page.values.step * kLastCode < 0.01 ? 8 : 4));

function numberText(value, digits = decimals) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  return value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");
}

// ---- Labels. What cannot be seen is shown by a sign, and what would reorder its neighbours by its number.
function visible(text) {
  if (text === "") return "∅";
  const shown = text
    .replace(/\n/g, "↵")
    .replace(/\t/g, "⇥")
    .replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (c, at) => {
      // A zero-width joiner inside an emoji or an Indic word is part of its shape.
      if ((c === "\u200d" || c === "\u200c") && at > 0 && at + 1 < text.length) return c;
      return `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
    });
  return shown.replace(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length));
}
const rowTexts = page.rows.map(visible);
const columnTexts = page.columns.map(visible);

// A sentence of the caller's with the label in the place of {}, the label kept apart from the sentence's direction.
function sentence(template, label) {
  const parts = template.split("{}");
  const nodes = [document.createTextNode(parts[0])];
  if (parts.length > 1) nodes.push(element("bdi", "", `“${label}”`), document.createTextNode(parts[1]));
  return nodes;
}

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function labelText(text) {
  const node = element("span", "text", text);
  node.dir = "auto";
  return node;
}

// ---- Colour. One scale for all panels: code -> step of 256 -> colour.
const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");
const colour = { map: page.colormap, root: false, table: [], pixels: new Uint32Array(256), steps: new Uint8Array(65536) };
const kNanRgb = page.nan;

function toPosition(value) {
  const t = Math.min(1, Math.max(0, (value - page.scale.low) / (page.scale.high - page.scale.low)));
  return colour.root ? Math.sqrt(t) : t;
}
const fromPosition = (t) => page.scale.low + (colour.root ? t * t : t) * (page.scale.high - page.scale.low);

// On a dark page the blues run the other way, so that nought stays close to the page in both.
const reversed = () => colour.map === "blues" && darkQuery.matches;

// The page's own colours, which the canvases share with the style sheet.
const theme = { accent: "", second: "", grid: "", font: "" };

function prepareColours() {
  const style = getComputedStyle(document.body);
  ["accent", "second", "grid"].forEach((name) => {
    theme[name] = style.getPropertyValue(`--${name}`);
  });
  theme.font = style.fontFamily;

  const hex = page.colormaps[colour.map];
  colour.table = [];
  for (let i = 0; i < 256; ++i) {
    const at = 6 * (reversed() ? 255 - i : i);
    const rgb = [0, 2, 4].map((channel) => parseInt(hex.substr(at + channel, 2), 16));
    colour.table.push(rgb);
  }
  const bytes = new Uint8Array(colour.pixels.buffer);
  colour.table.forEach((rgb, i) => bytes.set([rgb[0], rgb[1], rgb[2], 255], 4 * i));
  for (let code = 0; code < 65535; ++code) colour.steps[code] = Math.round(255 * toPosition(valueOf(code)));
}

function rgbOf(code) {
  return code === 65535 ? kNanRgb : colour.table[colour.steps[code]];
}
const cssColour = (rgb) => `rgb(${rgb[0]}, ${rgb[1]}, ${rgb[2]})`;

// Black or white, whichever stands out more from a colour (relative luminance of WCAG 2, at which both contrast alike).
function inkOn(rgb) {
  const [r, g, b] = rgb.map((c) => (c <= 10 ? c / 3294.6 : Math.pow((c / 255 + 0.055) / 1.055, 2.4)));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

// The whole panel, one pixel a value, for drawImage to enlarge or reduce.
function bitmapOf(panel) {
  const codes = codesOf(panel);
  const bitmap = element("canvas");
  bitmap.width = columnCount;
  bitmap.height = rowCount;
  const context = bitmap.getContext("2d");
  const image = context.createImageData(columnCount, rowCount);
  const pixels = new Uint32Array(image.data.buffer);
  const nan = new Uint32Array(Uint8Array.from([...kNanRgb, 255]).buffer)[0];
  for (let i = 0; i < codes.length; ++i) pixels[i] = codes[i] === 65535 ? nan : colour.pixels[colour.steps[codes[i]]];
  context.putImageData(image, 0, 0);
  return bitmap;
}

// Gives a canvas as many pixels as the screen has for this size in CSS pixels, and draws in CSS pixels.
function sizedContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const across = Math.max(1, Math.round(width * ratio));
  const down = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
