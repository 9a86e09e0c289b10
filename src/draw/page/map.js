// SPDX-License-Identifier: Apache-2.0
// The enlarged heat map. The canvas is only as large as what can be seen: it stays in place while its box scrolls.

const map = {
  box: byId("map"), sheet: byId("map-sheet"), cells: byId("map-cells"), canvas: byId("map-canvas"), zoom: byId("zoom"),
  rows: byId("map-rows"), columns: byId("map-columns"), corner: byId("map-corner"),
  cell: 0, bitmap: null, labelWidth: 0, labelHeight: 0, tail: 0,
};
const kMaxLabel = 130;
const kColumnAngle = 60; // degrees; dense labels keep a full line's distance, and Chinese stays readable

function buildMap() {
  fillLabels(map.rows, rowTexts);
  fillLabels(map.columns, columnTexts);
  listenForTokens(map.rows, ".label", "rows");
  listenForTokens(map.columns, ".label", "columns");
  map.cells.addEventListener("pointermove", pointAtCell);
  map.cells.addEventListener("pointerleave", () => point(null));
  map.cells.addEventListener("click", (event) => pin(cellAt(event)));
  map.box.addEventListener("scroll", drawMap, { passive: true });
  map.zoom.addEventListener("input", () => {
    map.cell = Number(map.zoom.value);
    layOutMap();
    drawMap();
  });
}

function fillLabels(list, texts) {
  texts.forEach((text) => {
    const label = element("div", "label");
    label.append(labelText(text));
    label.title = text;
    list.append(label);
  });
}

// The size of a cell at which the whole panel can be seen, as long as cells can then still be pointed at.
function fittingCell() {
  const width = map.box.clientWidth - map.labelWidth - map.tail;
  const height = Math.max(240, window.innerHeight - 218) - map.labelHeight;
  return Math.max(6, Math.min(96, Math.floor(Math.min(width / columnCount, height / rowCount))));
}

function layOutMap() {
  const longest = Math.min(kMaxLabel, widest(columnTexts)) + 8;
  const slant = (kColumnAngle * Math.PI) / 180;
  map.labelWidth = Math.ceil(Math.min(kMaxLabel, widest(rowTexts.concat(`${words.column} → `)))) + 14;
  map.labelHeight = Math.max(40, Math.ceil(longest * Math.sin(slant) + 16));
  map.tail = Math.ceil(longest * Math.cos(slant));
  if (!map.cell) map.cell = fittingCell();
  map.zoom.value = String(map.cell);
  const level = longest <= map.cell; // labels fit above their columns without being turned
  if (level) map.labelHeight = 40;
  const width = map.cell * columnCount;
  const height = map.cell * rowCount;
  map.sheet.style.gridTemplate = `${map.labelHeight}px ${height}px / ${map.labelWidth}px ${width}px`;
  map.sheet.style.paddingInlineEnd = `${map.tail}px`;
  placeLabels(map.rows, (label, i) => {
    label.style.top = `${(i + 0.5) * map.cell}px`;
    label.style.transform = "translateY(-50%)";
    label.style.maxWidth = `${kMaxLabel + 8}px`;
  });
  placeLabels(map.columns, (label, j) => {
    label.style.left = `${(j + 0.5) * map.cell}px`;
    label.style.transform = level ? "translateX(-50%)" : `translateX(4px) rotate(-${kColumnAngle}deg)`;
    label.style.maxWidth = `${kMaxLabel + 8}px`;
  });
}

function widest(texts) {
  const context = map.canvas.getContext("2d");
  context.font = `12.5px ${theme.font}`;
  return texts.reduce((most, text) => Math.max(most, context.measureText(text).width), 24);
}

// In cells smaller than a line of text only every second, third, ... label is shown.
function placeLabels(list, place) {
  const size = Math.max(11, Math.min(12.5, map.cell - 2));
  const every = Math.ceil((size + 1) / map.cell);
  Array.prototype.forEach.call(list.children, (label, i) => {
    label.style.fontSize = `${size}px`;
    label.style.visibility = i % every === 0 ? "" : "hidden";
    place(label, i);
  });
}

function drawMap() {
  if (map.box.hidden) return;
  const width = Math.min(map.cell * columnCount, map.box.clientWidth - map.labelWidth);
  const height = Math.min(map.cell * rowCount, map.box.clientHeight - map.labelHeight);
  const x = Math.min(map.box.scrollLeft, map.cell * columnCount - width);
  const y = Math.min(map.box.scrollTop, map.cell * rowCount - height);
  map.canvas.style.left = `${map.labelWidth}px`;
  map.canvas.style.top = `${map.labelHeight}px`;
  const context = sizedContext(map.canvas, width, height);
  context.imageSmoothingEnabled = false;
  context.translate(-x, -y);
  context.drawImage(map.bitmap, 0, 0, map.cell * columnCount, map.cell * rowCount);
  if (map.cell >= 9) drawGrid(context, x, y, width, height);
  if (map.cell >= 32) drawNumbers(context, x, y, width, height);
  drawCross(context);
  markLabels(map.rows, state.focus.row);
  markLabels(map.columns, state.focus.column);
}

function drawGrid(context, x, y, width, height) {
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.beginPath();
  for (let j = Math.ceil(x / map.cell); j * map.cell <= x + width; ++j) {
    context.moveTo(j * map.cell, y);
    context.lineTo(j * map.cell, y + height);
  }
  for (let i = Math.ceil(y / map.cell); i * map.cell <= y + height; ++i) {
    context.moveTo(x, i * map.cell);
    context.lineTo(x + width, i * map.cell);
  }
  context.stroke();
}

// In cells large enough their values are written too.
function drawNumbers(context, x, y, width, height) {
  const codes = codesOf(state.panel);
  const size = map.cell;
  const digits = Math.min(decimals, size < 52 ? 2 : size < 72 ? 3 : 4);
  context.font = `${size < 40 ? 11 : size < 72 ? 12 : 13}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let i = Math.floor(y / size); i < rowCount && i * size < y + height; ++i) {
    for (let j = Math.floor(x / size); j < columnCount && j * size < x + width; ++j) {
      const code = codes[i * columnCount + j];
      context.fillStyle = inkOn(rgbOf(code));
      context.fillText(numberText(valueOf(code), digits), (j + 0.5) * size, (i + 0.5) * size, size - 4);
    }
  }
}

// Frames the row and the column in focus, and the cell where both were meant.
function drawCross(context) {
  const { row, column, cell } = state.focus;
  const size = map.cell;
  context.strokeStyle = theme.second;
  context.lineWidth = 1.5;
  if (row >= 0) context.strokeRect(0.75, row * size, columnCount * size - 1.5, size);
  if (column >= 0) context.strokeRect(column * size, 0.75, size, rowCount * size - 1.5);
  context.lineWidth = 3;
  if (cell) context.strokeRect(column * size, row * size, size, size);
}

function markLabels(list, active) {
  Array.prototype.forEach.call(list.querySelectorAll(".active"), (label) => label.classList.remove("active"));
  if (active >= 0) list.children[active].classList.add("active");
}

function cellAt(event) {
  const area = map.cells.getBoundingClientRect();
  const column = Math.floor((event.clientX - area.left) / map.cell);
  const row = Math.floor((event.clientY - area.top) / map.cell);
  const inside = row >= 0 && column >= 0 && row < rowCount && column < columnCount;
  return inside ? { row, column, cell: true } : null;
}

function pointAtCell(event) {
  point(cellAt(event), event);
}
