// The curve of a run: speed over what was written, or over time, with its phases behind it.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { CAUSES } from "./phases";
import type { Answer, Curve, Measured } from "./types";
import { size, speed, time } from "./units";

export interface Line {
  label: string;
  answer: Answer;
  axis: "bytes" | "time";
}

/** Positions of bins and speeds in them. Of a scaled drive both axes are stretched to the whole one. */
function points(line: Line): { x: number[]; y: number[] } {
  const { answer, axis } = line;
  const curve: Curve = axis === "bytes" ? answer.curve : answer.over_time;
  const x: number[] = [];
  const y: number[] = [];
  let [bytes, before] = [0, answer.start_ns];
  for (let bin = 0; bin < curve.end_ns.length; bin++) {
    const end = curve.end_ns[bin]!;
    const moved = curve.write_bytes[bin]! + curve.read_bytes[bin]!;
    bytes += moved;
    x.push((axis === "bytes" ? bytes : end - answer.start_ns) * answer.denominator);
    y.push(end > before ? (moved / (end - before)) * 1e9 : 0);
    before = end;
  }
  return { x, y };
}

/** Means over so many bins that a screen can show them. */
function smooth({ x, y }: { x: number[]; y: number[] }, bins: number): { x: number[]; y: number[] } {
  const stride = Math.ceil(x.length / bins);
  if (stride <= 1) return { x, y };
  const result = { x: [] as number[], y: [] as number[] };
  for (let at = 0; at < x.length; at += stride) {
    const end = Math.min(at + stride, x.length);
    result.x.push(x[end - 1]!);
    let sum = 0;
    for (let bin = at; bin < end; bin++) sum += y[bin]!;
    result.y.push(sum / (end - at));
  }
  return result;
}

function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "gray";
}

const LINES = ["--line", "--line2", "--line3", "--line4", "--line5", "--line6"];

export class Chart {
  private plot: uPlot | null = null;
  private marker = Number.NaN;
  private lines: Line[] = [];
  private readonly resize = new ResizeObserver(() => this.fit());

  constructor(private readonly place: HTMLElement) {
    this.resize.observe(place);
  }

  private fit(): void {
    const width = this.place.clientWidth;
    if (this.plot && width > 0) this.plot.setSize({ width, height: Math.max(220, Math.min(380, width * 0.45)) });
  }

  /** Where the film stands, in bytes or nanoseconds of the whole drive. */
  mark(position: number): void {
    this.marker = position;
    this.plot?.redraw(false);
  }

  /** Curves, and one that was measured, dashed over them. */
  show(lines: Line[], measured: Measured | null = null): void {
    this.lines = lines;
    this.plot?.destroy();
    const bins = Math.max(160, Math.min(600, this.place.clientWidth / 2 || 400));
    const tables = lines.map((line) => {
      const { x, y } = smooth(points(line), bins);
      return [x, y] as uPlot.AlignedData;
    });
    if (measured) tables.push([measured.points.map((point) => point.x), measured.points.map((point) => point.y)]);
    const data = uPlot.join(tables);
    const axis = lines[0]?.axis ?? "bytes";
    const series: uPlot.Series[] = lines.map((line, index) => ({
      label: line.label,
      stroke: color(LINES[index % LINES.length]!),
      width: 2,
      spanGaps: true,
      value: (_, value) => (value === null ? "" : speed(value)),
    }));
    if (measured)
      series.push({ label: measured.label, stroke: color("--published"), width: 2, dash: [6, 4], spanGaps: true, value: (_, value) => (value === null ? "" : speed(value)) });
    const across = axis === "bytes" ? size : time;
    this.plot = new uPlot(
      {
        width: this.place.clientWidth || 600,
        height: 300,
        legend: { live: true },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false }, y: { range: (_, __, high) => [0, Math.max(high * 1.08, 1e6)] } },
        axes: [
          { stroke: color("--ink"), grid: { stroke: color("--grid") }, values: (_, ticks) => ticks.map((tick) => across(tick)), label: axis === "bytes" ? "written" : "time" },
          { stroke: color("--ink"), grid: { stroke: color("--grid") }, size: 78, values: (_, ticks) => ticks.map((tick) => speed(tick)) },
        ],
        series: [{ label: axis === "bytes" ? "at" : "after", value: (_, value) => (value === null ? "" : across(value)) }, ...series],
        hooks: { drawAxes: [(plot) => this.drawPhases(plot)], draw: [(plot) => this.drawMarker(plot)] },
      },
      data,
      this.place,
    );
    this.place.querySelector("canvas")?.setAttribute("aria-hidden", "true");
    this.fit();
  }

  private drawPhases(plot: uPlot): void {
    const [line] = this.lines;
    if (this.lines.length !== 1 || line === undefined) return;
    const { answer, axis } = line;
    const { ctx, bbox } = plot;
    ctx.save();
    for (const phase of answer.phases) {
      const [from, to] = axis === "bytes" ? [phase.from_bytes, phase.to_bytes] : [phase.from_ns - answer.start_ns, phase.to_ns - answer.start_ns];
      const left = plot.valToPos(from * answer.denominator, "x", true);
      const right = plot.valToPos(to * answer.denominator, "x", true);
      ctx.fillStyle = color(CAUSES[phase.cause].color.slice(4, -1));
      ctx.globalAlpha = 0.16;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      this.label(plot, speed(phase.bytes_per_s), (left + right) / 2, right - left, phase.bytes_per_s);
    }
    ctx.restore();
  }

  /** The speed of a phase above its curve, where there is room for it. */
  private label(plot: uPlot, text: string, x: number, width: number, bytesPerSecond: number): void {
    const { ctx, bbox } = plot;
    const scale = devicePixelRatio || 1;
    ctx.globalAlpha = 1;
    ctx.fillStyle = color("--ink");
    ctx.font = `600 ${13 * scale}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    if (ctx.measureText(text).width > width) return;
    const y = plot.valToPos(bytesPerSecond, "y", true);
    ctx.fillText(text, x, y - 10 * scale > bbox.top + 14 * scale ? y - 10 * scale : y + 20 * scale);
  }

  private drawMarker(plot: uPlot): void {
    if (Number.isNaN(this.marker)) return;
    const { ctx, bbox } = plot;
    const x = plot.valToPos(this.marker, "x", true);
    ctx.save();
    ctx.strokeStyle = color("--ink");
    ctx.lineWidth = 2;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }

  destroy(): void {
    this.resize.disconnect();
    this.plot?.destroy();
  }
}
