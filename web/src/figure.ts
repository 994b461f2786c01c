// Curves as the picture that pslc draws everywhere (pslc.figures.document): the page makes the same JSON of its own answers.
import type { Band } from "./alike";
import { drawn, saved, type FigureJson, type LineJson, type MarkJson } from "./drawing";
import { causeLabel } from "./phases";
import type { Answer, Curve, Measured } from "./types";
import { speed } from "./units";

export type Axis = "bytes" | "time";

export interface Line {
  label: string;
  answer: Answer;
  axis: Axis;
  /** The drive as it was before a knob moved. */
  before?: boolean;
}

type Points = { x: number[]; y: (number | null)[] };

const MAX_BINS = 600;
const MAX_TICKS = 6;
const SIXTIES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600];
/** Length of the speed axis over the highest value, so that labels have room. */
const HEADROOM = 1.25;
/** Units as in pslc.figures.scale: the value below which one is used, its size, its name. */
const UNITS: Record<Axis, [number, number, string][]> = {
  bytes: [[1e9, 1e6, "MB"], [1e13, 1e9, "GB"], [Infinity, 1e12, "TB"]],
  time: [[1e9, 1e6, "ms"], [180e9, 1e9, "s"], [10_800e9, 60e9, "min"], [Infinity, 3600e9, "h"]],
};

/** Ends of bins and speeds in them, of the whole drive; null where nothing was moved. */
export function points({ answer, axis }: Line): Points {
  const curve: Curve = axis === "bytes" ? answer.curve : answer.over_time;
  const result: Points = { x: [], y: [] };
  const stride = Math.ceil(curve.end_ns.length / MAX_BINS);
  let [bytes, before, part] = [0, answer.start_ns, 0];
  curve.end_ns.forEach((end, bin) => {
    part += curve.write_bytes[bin]! + curve.read_bytes[bin]!;
    if ((bin + 1) % stride !== 0 && bin + 1 < curve.end_ns.length) return;
    bytes += part;
    result.x.push((axis === "bytes" ? bytes : end - answer.start_ns) * answer.denominator);
    result.y.push(part > 0 && end > before ? (part / (end - before)) * 1e3 : null);
    [before, part] = [end, 0];
  });
  return result;
}

export function axisOf(title: string, unit: string, by: number, high: number) {
  let step = 10 ** Math.floor(Math.log10(high / MAX_TICKS));
  step *= [1, 2, 5, 10].find((times) => high / (step * times) <= MAX_TICKS)!;
  if (unit === "s" || unit === "min") step = SIXTIES.find((each) => high / each <= MAX_TICKS) ?? 3600;
  const ticks: [number, string][] = [];
  for (let at = 0; at <= high + 0.01 * step; at += step) ticks.push([at, Number(at.toPrecision(10)).toLocaleString("en")]);
  return { title: unit ? `${title} (${unit})` : title, unit, by, low: 0, high: Math.max(high, ticks.at(-1)![0]), log: 0, ticks };
}

/** Stages of a run, shaded by turns, each with its speed and its cause. */
function stages(line: Line, by: number): MarkJson[] {
  return line.answer.phases.map((phase) => {
    const [from, to] = line.axis === "bytes"
      ? [phase.from_bytes, phase.to_bytes]
      : [phase.from_ns - line.answer.start_ns, phase.to_ns - line.answer.start_ns];
    const scale = line.answer.denominator / by;
    return { x: from * scale, end: to * scale, y: phase.bytes_per_s / 1e6, texts: [causeLabel(phase.cause), speed(phase.bytes_per_s)] };
  });
}

/** One picture of some runs, of a curve that was measured, and of drives alike. */
export function figureOf(lines: Line[], measured: Measured | null, band: Band | null): FigureJson {
  const axis = lines[0]?.axis ?? "bytes";
  const tables: { name: string; style: string; points: Points }[] = lines.map((line) => ({
    name: line.label, style: line.before ? "dotted" : "line", points: points(line),
  }));
  if (measured) tables.push({ name: measured.label, style: "dotted", points: { x: measured.points.map((point) => point.x), y: measured.points.map((point) => point.y / 1e6) } });
  const most = Math.max(...tables.map((table) => table.points.x.at(-1) ?? 0), 1);
  const [, by, unit] = UNITS[axis].find(([below]) => most < below)!;
  const top = Math.max(...tables.flatMap((table) => table.points.y.filter((y) => y !== null)), ...(band?.high ?? []).map((y) => y / 1e6), 1);
  const shown: LineJson[] = tables.map(({ name, style, points: { x, y } }, hue) => ({
    name, style, hue, dash: 0, x: x.map((value) => value / by), y, low: [], high: [], marks: [],
  }));
  const [inMega, inUnit] = [(values: number[]) => values.map((y) => y / 1e6), (values: number[]) => values.map((x) => x / by)];
  if (band) shown.push({ name: band.name, style: "line", hue: shown.length, dash: 1, x: inUnit(band.x), y: inMega(band.y), low: inMega(band.low), high: inMega(band.high), marks: [] });
  const title = axis === "bytes" ? "Write speed by data written" : "Speed over time";
  const marks = lines[0] && lines.filter((line) => !line.before).length === 1 ? stages(lines.find((line) => !line.before)!, by) : [];
  return {
    id: "run", title, label: title, language: "en", note: "", more: "", drive: lines[0]?.label ?? "", conditions: "simulated by pslc", strip: null,
    x: axisOf(axis === "bytes" ? "written" : "time", unit, by, most / by),
    panels: [{ title: "", y: axisOf("speed", "MB/s", 1e6, top * HEADROOM), lines: shown, bars: [], marks }],
  };
}

/** Draws a picture into a place, and where a film stands on it. */
export class Chart {
  private figure: FigureJson | null = null;

  constructor(private readonly place: HTMLElement) {}

  show(lines: Line[], measured: Measured | null = null, band: Band | null = null): void {
    this.figure = figureOf(lines, measured, band);
    drawn(this.place, this.figure);
  }

  /** The picture as a file, as a data address. */
  file(kind: "png" | "svg" | "card"): Promise<string> {
    return saved(this.figure!, kind, this.place);
  }

  /** Where the film stands, in bytes or nanoseconds of the whole drive. */
  mark(position: number): void {
    const [box] = this.place.drawn?.boxes ?? [];
    if (!this.figure || !box) return;
    const { x } = this.figure;
    const at = box.left + ((position / x.by - x.low) / (x.high - x.low)) * (box.right - box.left);
    this.place.querySelector(".cursor")?.setAttribute("d", Number.isNaN(position) ? "" : `M${at} ${box.top}V${box.bottom}`);
  }
}
