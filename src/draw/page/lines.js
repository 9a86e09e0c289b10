// SPDX-License-Identifier: Apache-2.0
// The lines view: rows' tokens on the left, columns' tokens on the right, a line for each value, as opaque as its
// place on the colour scale. Like the map's, the canvas is only as large as what can be seen.

const lines = {
  box: byId("lines"), canvas: byId("lines-canvas"), left: byId("lines-left"), right: byId("lines-right"), step: 24, head: 24,
};
const kFaintest = 0.01; // opacity below which a line cannot be seen, and is not drawn
const kRowInk = 3; // of all lines of a row; weights that add up to 1 stay below it on a scale from 0 to 1
const kMaxStep = 44; // pixels from token to token; fewer when there are many

function buildLines() {
  fillLines(lines.left, rowTexts);
  fillLines(lines.right, columnTexts);
  listenForTokens(lines.left, ".label", "left");
  listenForTokens(lines.right, ".label", "right");
  layOutLines();
  lines.box.addEventListener("scroll", drawLines, { passive: true });
  byId("lines-left-title").textContent = words.rows;
  byId("lines-right-title").textContent = words.columns;
}

function fillLines(list, texts) {
  texts.forEach((text) => {
    const label = element("div", "label");
    label.append(labelText(text), element("span", "number"));
    list.append(label);
  });
}

function layOutLines() {
  const room = window.innerHeight - 250;
  lines.step = Math.max(24, Math.min(kMaxStep, Math.floor(room / Math.max(rowCount, columnCount))));
  lines.box.style.setProperty("--step", `${lines.step}px`);
}

function drawLines() {
  if (lines.box.hidden) return;
  const { row, column } = state.focus;
  const codes = codesOf(state.panel);
  paintLineTokens(lines.left, column < 0 ? null : (i) => codes[i * columnCount + column], row);
  paintLineTokens(lines.right, row < 0 ? null : (j) => codes[row * columnCount + j], column);

  const width = lines.canvas.parentNode.clientWidth;
  const whole = Math.max(rowCount, columnCount) * lines.step;
  const height = Math.min(whole, lines.box.clientHeight - lines.head);
  const top = Math.min(lines.box.scrollTop, whole - height);
  const context = sizedContext(lines.canvas, width, height);
  context.translate(0, -top);
  const strokes = { context, codes, width, top, bottom: top + height };
  context.strokeStyle = theme.accent;
  if (row < 0 && column < 0) {
    for (let i = 0; i < rowCount; ++i) drawRowLines(strokes, i, kRowInk);
  }
  if (row >= 0) drawRowLines(strokes, row, Infinity);
  context.strokeStyle = theme.second;
  for (let i = 0; column >= 0 && i < rowCount; ++i) drawLine(strokes, i, column, opacityAt(codes, i, column));
  context.globalAlpha = 1;
}

function opacityAt(codes, i, j) {
  const code = codes[i * columnCount + j];
  return code === 65535 ? 0 : colour.steps[code] / 255;
}

// All lines of a row. Where their opacities add up to more than `ink` they are thinned alike, or the lines of hundreds
// of rows would end in one dark area.
function drawRowLines(strokes, i, ink) {
  let sum = 0;
  for (let j = 0; j < columnCount; ++j) sum += opacityAt(strokes.codes, i, j);
  const share = Math.min(1, ink / sum);
  for (let j = 0; j < columnCount; ++j) drawLine(strokes, i, j, share * opacityAt(strokes.codes, i, j));
}

function drawLine({ context, width, top, bottom }, i, j, opacity) {
  const from = (i + 0.5) * lines.step;
  const to = (j + 0.5) * lines.step;
  if (opacity < kFaintest || Math.max(from, to) < top || Math.min(from, to) > bottom) return;
  context.globalAlpha = opacity;
  context.lineWidth = 1.5 + 1.5 * opacity;
  context.beginPath();
  context.moveTo(0, from);
  context.bezierCurveTo(width * 0.4, from, width * 0.6, to, width, to);
  context.stroke();
}

function paintLineTokens(list, codeAt, active) {
  Array.prototype.forEach.call(list.children, (label, i) => {
    paintToken(label, codeAt ? codeAt(i) : -1);
  });
  markLabels(list, active);
}
