// SPDX-License-Identifier: Apache-2.0
// The two strips of tokens. Pointing at a row colours the columns' strip by that row of the panel, and pointing at a
// column colours the rows' strip by that column.

const strips = {
  rows: { node: byId("rows-strip"), title: byId("rows-title"), texts: rowTexts, chips: [] },
  columns: { node: byId("columns-strip"), title: byId("columns-title"), texts: columnTexts, chips: [] },
};

function buildStrips() {
  buildStrip("rows");
  buildStrip("columns");
}

function buildStrip(side) {
  const strip = strips[side];
  strip.texts.forEach((text, i) => {
    const chip = element("span", "chip");
    chip.id = `${side}-chip-${i}`;
    chip.setAttribute("role", "option");
    chip.append(labelText(text), element("span", "number"));
    strip.chips.push(chip);
    strip.node.append(chip);
  });
  listenForTokens(strip.node, ".chip", side);
  strip.node.addEventListener("keydown", (event) => stripKey(event, side));
}

// Pointing at and clicking on the tokens of any list: a chip, a label of the map, a label of the lines.
function listenForTokens(list, selector, side) {
  const indexOf = (event) => {
    const node = event.target.closest(selector);
    return node ? Array.prototype.indexOf.call(node.parentNode.children, node) : -1;
  };
  list.addEventListener("pointerover", (event) => {
    const i = indexOf(event);
    if (i >= 0) point(tokenFocus(side, i));
  });
  list.addEventListener("pointerleave", () => point(null));
  list.addEventListener("click", (event) => {
    const i = indexOf(event);
    if (i >= 0) pin(tokenFocus(side, i));
  });
}

// What pointing at token i of one side means: its row or its column; beside the strips and the map both, when the
// two sides are the same tokens. The lines have a left and a right side, so that each means itself.
function tokenFocus(side, i) {
  const both = sharedLabels && side !== "left" && side !== "right";
  return {
    row: both || side === "rows" || side === "left" ? i : -1,
    column: both || side === "columns" || side === "right" ? i : -1,
    cell: false,
  };
}

// Left and right walk along the tokens while a strip has the keyboard.
function stripKey(event, side) {
  const count = strips[side].chips.length;
  const at = side === "rows" ? state.focus.row : state.focus.column;
  const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 };
  if (!(event.key in moves)) return;
  event.preventDefault();
  event.stopPropagation();
  const next = Math.max(0, Math.min(count - 1, moves[event.key]));
  state.pinned = null;
  pin(tokenFocus(side, next));
  strips[side].node.setAttribute("aria-activedescendant", strips[side].chips[next].id);
  scrollWithin(strips[side].node, strips[side].chips[next]);
}

function drawStrips() {
  const { row, column } = state.focus;
  const codes = codesOf(state.panel);
  paintStrip(strips.columns, row < 0 ? null : (j) => codes[row * columnCount + j], column);
  paintStrip(strips.rows, column < 0 ? null : (i) => codes[i * columnCount + column], row);
  strips.columns.title.replaceChildren(
    ...(row < 0 ? [document.createTextNode(words.columns)] : sentence(words.row_shows, rowTexts[row])));
  strips.rows.title.replaceChildren(
    ...(column < 0 ? [document.createTextNode(words.rows)] : sentence(words.column_shows, columnTexts[column])));
}

function paintStrip(strip, codeAt, active) {
  strip.chips.forEach((chip, i) => {
    paintToken(chip, codeAt ? codeAt(i) : -1);
    if (chip.classList.toggle("active", i === active)) chip.setAttribute("aria-selected", "true");
    else chip.removeAttribute("aria-selected");
  });
}

// Colours a token and writes its number, which is its last node; a code below 0 clears it.
function paintToken(node, code) {
  const rgb = code < 0 ? null : rgbOf(code);
  node.style.backgroundColor = rgb ? cssColour(rgb) : "";
  node.style.color = rgb ? inkOn(rgb) : "";
  node.lastChild.textContent = rgb ? numberText(valueOf(code), Math.min(3, decimals)) : "";
}
