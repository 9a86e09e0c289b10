// SPDX-License-Identifier: Apache-2.0
// The state of the page, and what changes it.

const state = {
  panel: panels[0],
  focus: { row: -1, column: -1, cell: false }, // what is shown: the pointer's, else the pinned one
  pinned: null,
};
const kNothing = { row: -1, column: -1, cell: false };

function select(panel) {
  state.panel = panel;
  map.bitmap = bitmapOf(panel);
  byId("detail-title").textContent = panelTitle(panel);
  const shape = `${words.rows} × ${words.columns}`;
  map.canvas.setAttribute("aria-label", `${panelTitle(panel)}: ${shape}`);
  lines.canvas.setAttribute("aria-label", `${panelTitle(panel)}: ${shape}`);
  markSelected(panel);
  refresh();
}

// Something is pointed at (null: no longer). `event` is given where the value stands under the pointer.
function point(focus, event) {
  const next = focus || state.pinned || kNothing;
  moveTip(focus && focus.cell ? focus : null, event);
  const now = state.focus;
  if (next.row === now.row && next.column === now.column && next.cell === now.cell) return;
  state.focus = next;
  refresh();
}

// Keeps what was clicked; a second click lets it go.
function pin(focus) {
  const was = state.pinned;
  const same = focus && was && was.row === focus.row && was.column === focus.column;
  state.pinned = same ? null : focus;
  state.focus = state.pinned || focus || kNothing;
  refresh();
}

function refresh() {
  document.body.classList.toggle("kept", state.pinned !== null);
  drawStrips();
  drawMap();
  drawLines();
  drawReadout();
}

// The text above the picture, which screen readers also speak.
function drawReadout() {
  const { row, column, cell } = state.focus;
  const readout = [];
  if (cell) {
    const code = codesOf(state.panel)[row * columnCount + column];
    readout.push([
      element("span", "word", `${words.row} ${row} `), element("bdi", "", rowTexts[row]),
      element("span", "word", ` → ${words.column} ${column} `), element("bdi", "", columnTexts[column]),
      element("strong", "", numberText(valueOf(code)))]);
  } else if (row < 0 && column < 0) {
    readout.push([element("span", "word", "Point at a cell or a token for its values; click to keep it.")]);
  } else {
    if (row >= 0) readout.push([...sentence(words.row_shows, rowTexts[row]), strongest(columnTexts, (j) => [row, j])]);
    if (column >= 0) {
      readout.push([...sentence(words.column_shows, columnTexts[column]), strongest(rowTexts, (i) => [i, column])]);
    }
  }
  byId("readout").replaceChildren(...readout.map((nodes) => {
    const line = element("div");
    line.append(...nodes);
    return line;
  }));
}

// ": saw 0.4120, I 0.2031, ..." - the four largest values of a row or a column.
function strongest(texts, cellOf) {
  const codes = codesOf(state.panel);
  const value = (i) => {
    const [row, column] = cellOf(i);
    return valueOf(codes[row * columnCount + column]);
  };
  const order = texts.map((text, i) => i).filter((i) => !Number.isNaN(value(i))).sort((a, b) => (value(a) === value(b) ? 0 : value(b) - value(a)));
  const span = element("span", "", ": ");
  order.slice(0, 4).forEach((i, k) => {
    span.append(document.createTextNode(k ? ", " : ""), element("bdi", "", texts[i]), ` ${numberText(value(i))}`);
  });
  return span;
}

function moveTip(cell, event) {
  const tip = byId("tip");
  tip.hidden = !cell;
  if (!cell) return;
  const code = codesOf(state.panel)[cell.row * columnCount + cell.column];
  byId("tip-row").textContent = rowTexts[cell.row];
  byId("tip-column").textContent = columnTexts[cell.column];
  byId("tip-value").textContent = numberText(valueOf(code));
  const x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18;
  const y = below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 12 : below;
  tip.style.left = `${Math.max(4, x)}px`;
  tip.style.top = `${y}px`;
}

function show(view) {
  map.box.hidden = view !== "map";
  lines.box.hidden = view !== "lines";
  byId("zoom-label").style.visibility = view === "map" ? "" : "hidden";
  byId("show-map").setAttribute("aria-pressed", String(view === "map"));
  byId("show-lines").setAttribute("aria-pressed", String(view === "lines"));
  refresh();
}

// Arrows walk through items and groups from anywhere but a control that has its own use for them.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
  const { group, item } = state.panel;
  const moves = {
    ArrowLeft: [group, item - 1], ArrowRight: [group, item + 1], ArrowUp: [group - 1, item], ArrowDown: [group + 1, item],
    Home: [0, 0], End: [page.groups.length - 1, Infinity],
  };
  if (event.key in moves) {
    event.preventDefault();
    const [g, i] = moves[event.key];
    const siblings = panels.filter((panel) => panel.group === g);
    if (siblings.length && i >= 0) select(siblings[Math.min(i, siblings.length - 1)]);
  } else if (event.key === "Escape") {
    pin(null);
  } else if (event.key === "l" || event.key === "m") {
    show(event.key === "l" ? "lines" : "map");
  }
}

function drawBar() {
  const bar = byId("bar");
  const context = sizedContext(bar, bar.parentNode.clientWidth, 12);
  const width = bar.parentNode.clientWidth;
  for (let x = 0; x < width; ++x) {
    context.fillStyle = cssColour(colour.table[Math.round((255 * x) / (width - 1))]);
    context.fillRect(x, 0, 1.5, 12);
  }
  const digits = Math.min(decimals, 3);
  byId("bar-ticks").replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((t) => {
    const tick = element("span", "", numberText(fromPosition(t), digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""));
    tick.style.left = `${100 * t}%`;
    return tick;
  }));
  byId("bar-caption").textContent = `${words.value}, one scale for every ${words.item}`;
}

function recolour() {
  prepareColours();
  drawBar();
  drawOverview();
  map.bitmap = bitmapOf(state.panel);
  refresh();
}

function resize() {
  map.cell = 0;
  layOutMap();
  layOutLines();
  recolour();
}

function start() {
  document.title = page.title || document.title;
  byId("title").textContent = page.title;
  byId("title").title = page.title; // long ones are cut
  byId("subtitle").textContent = page.subtitle;
  byId("overview-title").textContent = `${words.group} × ${words.item}`;
  byId("keys-hint").textContent = `Keys: ← → ${words.item}, ↑ ↓ ${words.group}, M map, L lines, Esc lets go of what was clicked.`;
  byId("map-corner").append(element("span", "", `${words.column} →`), element("span", "", `${words.row} ↓`));
  Object.keys(page.colormaps).forEach((name) => byId("colormap").append(element("option", "", name)));
  byId("colormap").value = colour.map;
  byId("colormap").addEventListener("change", (event) => {
    colour.map = event.target.value;
    recolour();
  });
  byId("scale").addEventListener("change", (event) => {
    colour.root = event.target.value === "root";
    recolour();
  });
  byId("show-map").addEventListener("click", () => show("map"));
  byId("show-lines").addEventListener("click", () => show("lines"));
  document.addEventListener("keydown", onKey);
  darkQuery.addEventListener("change", recolour);
  window.addEventListener("resize", resize);
  prepareColours();
  buildOverview();
  buildStrips();
  buildMap();
  buildLines();
  layOutMap();
  select(panels[0]);
  drawBar();
  drawOverview();
}

start();
