// SPDX-License-Identifier: Apache-2.0
// The overview: every panel as a small picture, groups down, items across.

const overview = { node: byId("overview"), buttons: [], job: 0 };

// The grid shares out the width; a picture has its panel's proportions, within limits.
function thumbnailSize() {
  const width = Math.floor(overview.buttons[0].getBoundingClientRect().width);
  const height = Math.round(Math.max(width / 3, Math.min(width * 2, (width * rowCount) / columnCount)));
  return { width, height };
}

function buildOverview() {
  const across = Math.max(...page.groups.map((group) => group.items.length));
  overview.node.style.gridTemplateColumns = `max-content repeat(${across}, minmax(30px, 150px))`;
  overview.node.replaceChildren(element("span", "name"));
  const names = page.groups[0].items;
  const sameNames = page.groups.every((group) => group.items.length === across && group.items.every((n, i) => n === names[i]));
  for (let i = 0; i < across; ++i) {
    overview.node.append(element("span", "name item", sameNames ? names[i] : ""));
  }
  panels.forEach((panel) => {
    if (panel.item === 0) {
      const name = element("span", "name group", page.groups[panel.group].name);
      name.title = name.textContent;
      name.dir = "auto";
      name.style.gridColumn = "1";
      overview.node.append(name);
    }
    overview.node.append(panelButton(panel));
  });
}

function panelButton(panel) {
  const button = element("button", "panel");
  button.type = "button";
  button.title = panelTitle(panel);
  button.setAttribute("aria-label", panelTitle(panel));
  button.tabIndex = -1;
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  button.append(canvas);
  button.addEventListener("click", () => select(panel));
  overview.buttons[panel.index] = button;
  return button;
}

function markSelected(panel) {
  overview.buttons.forEach((button, i) => {
    const chosen = i === panel.index;
    button.tabIndex = chosen ? 0 : -1;
    if (chosen) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
  const chosen = overview.buttons[panel.index];
  if (overview.node.contains(document.activeElement)) chosen.focus();
  scrollWithin(overview.node, chosen);
}

// As scrollIntoView, but moves only the box, never the page.
function scrollWithin(box, node) {
  const outer = box.getBoundingClientRect();
  const inner = node.getBoundingClientRect();
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 6;
  if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 6;
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + 6;
  if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + 6;
}

// Draws a few panels at a time, so that the page answers while millions of values are decoded.
function drawOverview() {
  const job = ++overview.job;
  const { width, height } = thumbnailSize();
  overview.node.setAttribute("aria-busy", "true");
  let next = 0;
  const drawSome = () => {
    if (job !== overview.job) return;
    const start = performance.now();
    while (next < panels.length && performance.now() - start < 12) {
      drawThumbnail(panels[next], width, height);
      ++next;
    }
    if (next < panels.length) setTimeout(drawSome, 0);
    else overview.node.removeAttribute("aria-busy");
  };
  drawSome();
}

function drawThumbnail(panel, width, height) {
  const context = sizedContext(overview.buttons[panel.index].firstChild, width, height);
  context.imageSmoothingEnabled = columnCount > width * (window.devicePixelRatio || 1);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmapOf(panel), 0, 0, width, height);
}
