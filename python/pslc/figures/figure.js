// Draws a picture of pslc (pslc.figures.document, FigureJson) as SVG: report pages, the static page and the site share it.
// It says no word of its own: texts, units and ticks are in the picture. Colors are custom properties of CSS
// (--ink, --dim, --line, --paper, --hue0 ... --hue9), so a page in dark, in light and in print needs no new drawing.
export const HUES = 10;
const DASHES = ["", "7 3", "2 3", "7 3 2 3", "12 4"];
const PANEL = 230, STRIP = 12, ROW = 19;

const escaped = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
// Width of a text without asking a browser: capitals are wider than small letters, Chinese characters as wide as high.
const widthOf = (text, font) => [...String(text)].reduce((sum, c) => sum + (c > "\u2e80" ? 1.02 : /[mwMW]/.test(c) ? 0.95 : /[A-Z0-9\u0400-\u04ff]/.test(c) ? 0.66 : 0.54), 0) * font;
const color = hue => `var(--hue${hue % HUES})`;
const round = value => Math.round(value * 10) / 10;
const write = (x, y, text, more = "") => `<text x="${round(x)}" y="${round(y)}" ${more}>${escaped(text)}</text>`;

// A function from values of an axis to pixels.
function toPixels(axis, from, to) {
  const move = axis.log ? Math.log : Number, low = move(axis.low), high = move(axis.high);
  return value => from + (move(value) - low) / (high - low || 1) * (to - from);
}

// The parts of a line between its gaps, as lists of [x, y] in pixels.
function parts(xs, ys, x, y) {
  const found = [[]];
  ys.forEach((value, at) => {
    const place = value === null || xs[at] === null ? null : [x(xs[at]), y(value)];
    if (place && place.every(Number.isFinite)) found.at(-1).push(place);
    else if (found.at(-1).length) found.push([]);
  });
  return found.filter(part => part.length);
}

const path = points => points.map(([x, y], at) => `${at ? "L" : "M"}${round(x)} ${round(y)}`).join("");
const stepped = points => points.flatMap((point, at) => (at ? [[point[0], points[at - 1][1]], point] : [point]));

function lineOf(line, x, y, bottom, at) {
  const look = `class="stroke" stroke="${color(line.hue)}"`, dash = line.style === "dotted" ? "2 3" : DASHES[line.dash % DASHES.length];
  let drawn = "";
  if (line.low.length) {
    const low = parts(line.x, line.low, x, y), high = parts(line.x, line.high, x, y);
    high.forEach((part, number) => { drawn += `<path class="band" fill="${color(line.hue)}" d="${path([...part, ...low[number].reverse()])}Z"/>`; });
  }
  for (const part of parts(line.x, line.y, x, y)) {
    const points = line.style === "steps" ? stepped(part) : part;
    if (line.style === "filled")
      drawn += `<path class="band" fill="${color(line.hue)}" d="${path([...points, [points.at(-1)[0], bottom], [points[0][0], bottom]])}Z"/>`;
    if (line.style !== "dots") drawn += `<path ${look} fill="none" stroke-dasharray="${dash}" d="${path(points)}"/>`;
    if (line.style === "dots" || line.style === "points" || points.length === 1)
      drawn += points.map(([a, b]) => `<circle fill="${color(line.hue)}" cx="${round(a)}" cy="${round(b)}" r="3"/>`).join("");
  }
  return `<g class="drawn" data-line="${at}">${drawn}</g>`;
}

// Labels that lie over no other: each is lifted until it is free, or left out.
function labels(size) {
  const taken = [];
  return (x, y, texts, look, anchor = "start") => {
    const width = Math.max(...texts.map(text => widthOf(text, size.font))), height = texts.length * size.font * 1.15;
    let left = anchor === "end" ? x - width : anchor === "middle" ? x - width / 2 : x;
    left = Math.max(Math.min(left, size.right - width), size.left);
    for (let top = y - height; top > size.top - size.font * 1.6; top -= 4) {
      const box = [left, top, left + width, top + height];
      if (taken.some(other => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      return texts.map((text, at) => write(left, top + (at + 0.85) * size.font * 1.15, text, `class="halo ${look}"`)).join("");
    }
    return "";
  };
}

function panelOf(figure, panel, box, font) {
  const x = toPixels(figure.x, box.left, box.right), y = toPixels(panel.y, box.bottom, box.top);
  const label = labels({ ...box, font });
  let drawn = "";
  const stages = panel.marks.filter(mark => mark.end !== null && mark.y !== null);
  const events = panel.marks.filter(mark => mark.y === null), shaded = stages.filter((_, at) => at % 2);
  [...shaded, ...events.filter(mark => mark.end !== null)].forEach(stage => {
    drawn += `<rect class="stage" x="${round(x(stage.x))}" y="${box.top}" width="${round(x(stage.end) - x(stage.x))}" height="${box.bottom - box.top}"/>`;
  });
  for (const [value, text] of panel.y.ticks) {
    drawn += `<path class="grid" d="M${box.left} ${round(y(value))}H${box.right}"/>`;
    drawn += write(box.left - 6, y(value) + font * 0.35, text, 'text-anchor="end" class="ytick"');
  }
  for (const [value] of figure.x.ticks) drawn += `<path class="grid" d="M${round(x(value))} ${box.top}V${box.bottom}"/>`;
  drawn += panel.lines.map((line, at) => lineOf(line, x, y, box.bottom, at)).join("");
  drawn += write(box.left, box.top - font * 0.6, panel.y.title, 'class="title"');
  for (const mark of events) {
    const near = x(mark.x) > box.left + 0.75 * (box.right - box.left);
    drawn += `<path class="mark" d="M${round(x(mark.x))} ${box.top}V${box.bottom}"/>`;
    drawn += label(x(mark.x) + (near ? -5 : 5), box.top + font * 1.2, mark.texts, "strong", near ? "end" : "start");
  }
  // Over the highest point that the label covers, so that no line runs through it.
  for (const stage of stages.filter(stage => stage.texts.length)) {
    const from = x(stage.x) + 4, to = from + Math.max(...stage.texts.map(text => widthOf(text, font)));
    let top = y(stage.y);
    for (const line of panel.lines)
      line.x.forEach((value, at) => {
        const height = y((line.high.length ? line.high : line.y)[at]);
        if (x(value) >= from && x(value) <= to && height < top && height > top - 3 * font) top = height;
      });
    drawn += label(from, top - 5, stage.texts, "");
  }
  panel.lines.forEach((line, at) => line.marks.forEach(mark => {
    drawn += `<circle fill="${color(line.hue)}" cx="${round(x(mark.x))}" cy="${round(y(mark.y))}" r="4"/>`;
    drawn += label(x(mark.x) + 5, y(mark.y) - 4, mark.texts, "");
  }));
  return drawn;
}

function legend(items, left, top, right, font) {
  let x = left, y = top, drawn = "";
  for (const { text, hue, dash, line } of items) {
    const width = 28 + widthOf(text, font) + 14;
    if (x + width > right && x > left) [x, y] = [left, y + ROW];
    drawn += `<g class="key" role="button" tabindex="0" data-line="${line}"><rect class="hit" x="${round(x)}" y="${y - 13}" width="${round(width - 8)}" height="${ROW - 2}"/>`
      + `<path class="stroke thick" stroke="${color(hue)}" d="M${round(x)} ${y - 4}h20" stroke-dasharray="${dash}"/>${write(x + 26, y, text)}</g>`;
    x += width;
  }
  return { drawn, height: items.length ? y - top + ROW : 0 };
}

// Where the axis of bars ends, so that the figure behind the longest has room.
function rightOf(panel, left, width, font) {
  const ends = panel.bars.flatMap(bars => bars.texts.map((text, row) => {
    const share = ((bars.high[row] ?? bars.values[row] ?? 0) - panel.y.low) / (panel.y.high - panel.y.low || 1);
    return share > 0 ? left + (width - 7 - widthOf(text, font) - left) / share : width;
  }));
  return Math.min(width, ...ends);
}

function barsOf(figure, panel, box, font) {
  const count = panel.bars.length, x = toPixels(panel.y, box.left, box.right), step = (box.bottom - box.top) / panel.rows.length;
  const thick = Math.min(step * 0.78 / count, 26);
  let drawn = "";
  for (const [value, text] of panel.y.ticks) {
    drawn += `<path class="grid" d="M${round(x(value))} ${box.top}V${box.bottom}"/>`;
    drawn += write(x(value), box.bottom + font * 1.3, text, 'text-anchor="middle" class="ytick"');
  }
  panel.rows.forEach((row, place) => {
    const middle = box.top + (place + 0.5) * step;
    drawn += write(box.left - 8, middle + font * 0.35, figure.x.ticks[row][1], 'text-anchor="end" class="xtick"');
    panel.bars.forEach((bars, at) => {
      const top = middle + (at - count / 2) * thick, value = bars.values[row], [low, high] = [bars.low[row], bars.high[row]];
      const end = value === null ? box.left : x(value);
      if (value !== null) drawn += `<rect fill="${color(bars.hue)}" x="${box.left}" y="${round(top)}" width="${round(Math.max(end - box.left, 0))}" height="${round(thick * 0.9)}"/>`;
      const whisker = low != null && high != null && low < value && value < high;
      if (whisker) drawn += `<path class="whisker" d="M${round(x(low))} ${round(top + thick * 0.45)}H${round(x(high))}"/>`;
      drawn += write((whisker ? x(high) : end) + 5, top + thick * 0.45 + font * 0.35, bars.texts[row], 'class="value"');
    });
  });
  return drawn + write(box.right, box.bottom + font * 2.6, panel.y.title, 'text-anchor="end" class="title"');
}

// The picture as SVG of this width. `heading` writes the drive and the conditions on it, for a file of its own.
export function svg(figure, width, { font = 13, heading = false, panel: panelHeight = PANEL } = {}) {
  const ofBars = figure.panels.some(panel => panel.bars.length), ticks = figure.panels.flatMap(panel => panel.y.ticks);
  const sideTexts = (ofBars ? figure.x.ticks : ticks).map(([, text]) => text);
  const left = Math.min(Math.max(...sideTexts.map(text => widthOf(text, font)), 20) + 14, width * 0.45), right = Math.min(width - 14, ...figure.panels.map(panel => rightOf(panel, left, width, font)));
  let drawn = "", top = 6;
  if (heading) {
    drawn += write(left, top + font * 1.6, [figure.drive, figure.title].filter(Boolean).join(": "), `class="heading" font-size="${font * 1.35}"`);
    drawn += write(left, top + font * 3.1, figure.conditions, 'class="dim"');
    top += font * 4;
  }
  const boxes = [];
  for (const panel of figure.panels) {
    const several = panel.lines.length > 1 || panel.bars.length > 1;
    const items = (several ? [...panel.lines, ...panel.bars] : []).slice(0, 10).map((one, line) =>
      ({ text: one.name, hue: one.hue, line, dash: one.style === "dotted" ? "2 3" : DASHES[(one.dash ?? 0) % DASHES.length] }));
    const key = legend(items, left, top + font * 1.2, right, font);
    const box = { left, right, top: top + key.height + font * (ofBars && !panel.title ? 0.6 : 1.9) };
    if (panel.title) drawn += write(left, box.top - font * 0.6, panel.title, 'class="strong"');
    box.bottom = box.top + (ofBars ? panel.rows.length * Math.max(panel.bars.length * 18 + 10, 26) : panelHeight);
    drawn += `<g class="panel" data-panel="${boxes.length}">${key.drawn}${ofBars ? barsOf(figure, panel, box, font) : panelOf(figure, panel, box, font)}</g>`;
    boxes.push(box);
    top = box.bottom + (ofBars ? font * 3.2 : 6);
  }
  if (ofBars && figure.note) {
    drawn += write(left, top + font * 0.6, figure.note, 'class="dim small"');
    top += font;
  }
  if (figure.strip) {
    const { edges, shares, name } = figure.strip, x = toPixels(figure.x, left, right);
    shares.forEach((share, at) => { if (share > 0) drawn += `<rect fill="${color(0)}" opacity="${share}" x="${round(x(edges[at]))}" y="${top}" width="${round(x(edges[at + 1]) - x(edges[at]) + 0.3)}" height="${STRIP}"/>`; });
    drawn += `<rect class="frame" x="${left}" y="${top}" width="${right - left}" height="${STRIP}"/>`;
    drawn += write(right - 3, top + STRIP - 2.5, name, 'text-anchor="end" class="halo small"');
    top += STRIP + 2;
  }
  if (!ofBars) {
    const x = toPixels(figure.x, left, right);
    let end = -Infinity;
    for (const [value, text] of figure.x.ticks) {
      const half = widthOf(text, font) / 2, at = Math.min(Math.max(x(value), half), width - half);
      if (at - half > end + 4) drawn += write(at, top + font * 1.25, text, 'text-anchor="middle" class="xtick"');
      if (at - half > end + 4) end = at + half;
    }
    drawn += write(right, top + font * 2.6, figure.x.title, 'text-anchor="end" class="title"');
    if (figure.note) drawn += write(left, top + font * 2.6, figure.note, 'class="dim small"');
    top += font * 3.1;
  }
  const height = Math.ceil(top);
  return { text: `<svg xmlns="http://www.w3.org/2000/svg" class="figure" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-size="${font}">${drawn}<path class="cursor" d=""/></svg>`, boxes, height };
}

// Draw a picture into an element, anew when its width changes; `onMove` is told the x under the pointer.
export function show(element, figure, onMove = null) {
  Object.assign(element, { figure, onMove });
  draw(element);
  if (element.observer) return;
  element.observer = new ResizeObserver(() => draw(element));
  element.observer.observe(element);
  element.addEventListener("pointermove", event => point(element, event));
  element.addEventListener("click", event => toggle(element, event.target.closest(".key")));
  element.addEventListener("keydown", event => { if (event.key === "Enter") toggle(element, event.target.closest(".key")); });
}

function draw(element) {
  const { figure, drawn } = element, width = element.clientWidth;
  if (!width || (drawn?.figure === figure && drawn.width === width)) return;
  const { text, boxes } = svg(figure, width, width < 480 ? { font: 11, panel: 190 } : {});
  element.innerHTML = text + '<p class="readout">\u00a0</p>';
  element.drawn = { figure, width, boxes };
}

function toggle(element, key) {
  if (!key) return;
  key.setAttribute("aria-pressed", key.classList.toggle("off"));
  key.closest(".panel").querySelector(`.drawn[data-line="${key.dataset.line}"]`)?.classList.toggle("off");
}

// The values of the lines under the pointer, below the picture; of very many lines that of the nearest.
function point(element, event) {
  const { figure, drawn: { boxes } } = element, box = boxes[0];
  const frame = element.querySelector("svg").getBoundingClientRect();
  const at = event.clientX - frame.left, height = event.clientY - frame.top;
  if (figure.panels[0].bars.length || at < box.left || at > box.right) return;
  const [move, back] = figure.x.log ? [Math.log, Math.exp] : [Number, Number], low = move(figure.x.low);
  const x = back(low + (at - box.left) / (box.right - box.left) * (move(figure.x.high) - low));
  const said = value => new Intl.NumberFormat(figure.language, { maximumSignificantDigits: 4 }).format(value);
  const values = figure.panels.flatMap(({ y, lines }, number) => lines.map(line => {
    const near = line.x.reduce((best, value, place) => (Math.abs(value - x) < Math.abs(line.x[best] - x) ? place : best), 0);
    const far = Math.abs(toPixels(y, boxes[number].bottom, boxes[number].top)(line.y[near]) - height);
    return { text: `${line.name} ${said(line.y[near])} ${y.unit}`, far, value: line.y[near] };
  })).filter(one => one.value != null);
  const named = values.length > 10 ? values.sort((a, b) => a.far - b.far).slice(0, 1) : values;
  element.querySelector(".cursor").setAttribute("d", `M${round(at)} ${box.top}V${boxes.at(-1).bottom}`);
  const title = figure.x.title.replace(/ \([^(]*\)$/, "");
  element.querySelector(".readout").textContent = [`${title} ${said(x)} ${figure.x.unit}`, ...named.map(one => one.text)].join("; ");
  element.onMove?.(x, figure);
}

// The picture as a file of 1600 x 900 or higher: `svg`, or `png` as a promise of a data address.
export async function file(figure, kind, element, white) {
  const styles = getComputedStyle(element), rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]);
  const light = rules.find(rule => rule.selectorText === ":root" && rule.style.getPropertyValue("--hue0")).style;
  const names = ["ink", "dim", "line", "paper", ...Array.from({ length: HUES }, (_, hue) => `hue${hue}`)];
  const colors = names.map(name => `--${name}: ${(white ? light : styles).getPropertyValue(`--${name}`)};`).join("");
  const own = rules.filter(rule => rule.selectorText?.includes(".figure")).map(rule => rule.cssText).join("\n");
  // A card, as networks show of a link, is 1200 x 630.
  const count = figure.panels.length, card = kind === "card", most = card ? 560 : 640;
  const drawn = svg(figure, 1600, { font: card ? 26 : 22, heading: true, panel: Math.max(most / count, card ? 0 : 300) });
  const height = card ? 840 : Math.max(drawn.height, 900);
  const text = drawn.text.replace(/height="\d+" viewBox="0 0 1600 \d+"/, `height="${height}" viewBox="0 0 1600 ${height}"`)
    .replace(/(<svg[^>]*>)/, `$1<style>.figure { ${colors} font-family: system-ui, sans-serif } ${own}</style><rect class="paper" width="1600" height="${height}"/>`);
  const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  if (kind === "svg") return address;
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: card ? 1200 : 1600, height: card ? 630 : height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

// Buttons that save a picture: `find` gives the picture of a name.
export function onSave(find) {
  document.addEventListener("click", async event => {
    const button = event.target.closest("button[data-format]");
    if (!button) return;
    const figure = find(button.dataset.of), kind = button.dataset.format;
    const link = document.createElement("a");
    link.href = await file(figure, kind, document.getElementById(figure.id), button.parentElement.querySelector("input").checked);
    link.download = `${figure.id}.${kind}`;
    link.click();
  });
}
