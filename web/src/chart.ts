// A chart of somebody's review as a curve: the corners of its plot, what its axes say there, and the color of its curve.
import { h } from "./dom";
import type { Measured } from "./types";

const BYTES: Record<string, number> = { GB: 1e9, TB: 1e12 };
const SECONDS: Record<string, number> = { s: 1, min: 60 };
const RATES: Record<string, number> = { "MB/s": 1e6, "GB/s": 1e9 };
/** A pixel is of the curve when no channel is further from its color. */
const MAX_COLOR_DISTANCE = 60;
const MIN_COLUMNS_SHARE = 0.6;
const STEPS = ["lower left corner of the plot", "upper right corner of the plot", "curve"];

interface Axis { from: number; to: number; unit: string }

function axisIn(text: string, units: Record<string, number>, name: string): Axis {
  const match = /^([0-9.]+) ?: ?([0-9.]+) ?([A-Za-z/]+)$/.exec(text.trim());
  if (match === null || !(match[3]! in units) || !(Number(match[2]) > Number(match[1])))
    throw new Error(`The ${name} axis is “${text}”, but needs its ends and a unit of ${Object.keys(units).join(", ")}, such as 0:2000${Object.keys(units)[0]}.`);
  return { from: Number(match[1]), to: Number(match[2]), unit: match[3]! };
}

/** Rows of a column that have the color, as the middles of their runs. */
function runs(rows: boolean[]): number[] {
  const middles: number[] = [];
  for (let at = 0, start = -1; at <= rows.length; at++) {
    if (rows[at] && start < 0) start = at;
    if (!rows[at] && start >= 0) [middles[middles.length], start] = [(start + at - 1) / 2, -1];
  }
  return middles;
}

/** Places of the curve in a picture, in pixels: in each column the run of its color that is nearest to the last. */
export function trace({ data, width }: Pick<ImageData, "data" | "width">, [left, top, right, bottom]: number[], color: number[]): [number, number][] {
  const places: [number, number][] = [];
  for (let x = left!; x <= right!; x++) {
    const isOfCurve = (y: number) => color.every((channel, at) => Math.abs(data[4 * (y * width + x) + at]! - channel) <= MAX_COLOR_DISTANCE);
    const middles = runs(Array.from({ length: bottom! - top! + 1 }, (_, row) => isOfCurve(top! + row))).map((row) => top! + row);
    const last = places.at(-1)?.[1];
    if (middles.length > 0) places.push([x, last === undefined ? middles[0]! : middles.reduce((a, b) => (Math.abs(b - last) < Math.abs(a - last) ? b : a))]);
  }
  const columns = right! - left! + 1;
  if (places.length < MIN_COLUMNS_SHARE * columns) throw new Error(`That color is in ${places.length} of ${columns} columns of the plot: click on the curve itself, and on the corners of the plot.`);
  return places;
}

/** A form over the picture: three clicks, or the same in words; `done` gets the curve. */
export async function chartForm(file: File, attempt: (work: () => Promise<void>) => Promise<void>, done: (measured: Measured) => void): Promise<HTMLElement> {
  const picture = await createImageBitmap(file);
  const canvas = h("canvas", { class: "picture", width: picture.width, height: picture.height, role: "img", "aria-label": `The chart ${file.name}` });
  const paint = canvas.getContext("2d", { willReadFrequently: true })!;
  paint.drawImage(picture, 0, 0);
  const pixels = paint.getImageData(0, 0, picture.width, picture.height);
  const field = (label: string, placeholder: string) => h("input", { type: "text", placeholder, "aria-label": label });
  const [x, y, frame, color] = [field("x axis", "0:2000GB"), field("y axis", "0:7000MB/s"), field("Plot: left,top,right,bottom", "90,40,900,500"), field("Color of the curve", "#0068a8")];
  const next = h("p", { role: "status" }, `Click on the ${STEPS[0]}.`);
  const clicked: [number, number][] = [];
  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    const scale = picture.width / canvas.clientWidth;
    clicked.push([Math.round(offsetX * scale), Math.round(offsetY * scale)]);
    const [a, b, c] = clicked;
    if (a && b) frame.value = [a[0], b[1], b[0], a[1]].join(",");
    if (c) color.value = `#${[0, 1, 2].map((at) => pixels.data[4 * (c[1] * picture.width + c[0]) + at]!.toString(16).padStart(2, "0")).join("")}`;
    if (c) clicked.length = 0;
    next.textContent = c ? "Give the values at the corners, and read it." : `Click on the ${STEPS[clicked.length]}.`;
  });
  const read = () => attempt(async () => {
    const box = frame.value.split(",").map(Number);
    const channels = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color.value.trim())?.slice(1).map((hex) => Number.parseInt(hex, 16));
    const [left, top, right, bottom] = box as [number, number, number, number];
    if (!channels) throw new Error("The color of the curve is six digits, such as #0068a8; a click on the curve gives it.");
    if (box.length !== 4 || !box.every((at) => Number.isInteger(at) && at >= 0) || right >= picture.width || bottom >= picture.height || left >= right || top >= bottom) throw new Error(`The plot is “${frame.value}”, which is no left,top,right,bottom within the picture.`);
    const [across, up] = [axisIn(x.value, { ...BYTES, ...SECONDS }, "x"), axisIn(y.value, RATES, "y")];
    const places = trace(pixels, box, channels);
    const values = places.map(([column, row]) => ({
      x: across.from + ((column - left) / (right - left)) * (across.to - across.from),
      y: Math.max(0, up.from + ((bottom - row) / (bottom - top)) * (up.to - up.from)) * RATES[up.unit]!,
    }));
    let written = 0;
    const points = across.unit in BYTES ? values.map((point) => ({ ...point, x: point.x * BYTES[across.unit]! }))
      : values.map((point, at) => ({ y: point.y, x: (written += (point.x - (values[at - 1]?.x ?? 0)) * SECONDS[across.unit]! * point.y) }));
    paint.drawImage(picture, 0, 0);
    paint.fillStyle = "#000";
    places.forEach(([column, row]) => paint.fillRect(column - 1, row - 1, 2, 2));
    next.textContent = `Read in ${places.length} of ${right - left + 1} columns: the black dots on the picture.`;
    done({ label: file.name, points });
  });
  return h("div", { class: "chart" }, canvas, next, x, y, frame, color, h("button", { type: "button", onclick: () => void read() }, "Read the chart"));
}
