// The renderer that reports have too (python/pslc/figures/figure.js), and the JSON that it draws.
import { file, show } from "../../python/pslc/figures/figure.js";
import "../../python/pslc/figures/figure.css";

export interface AxisJson { title: string; unit: string; by: number; low: number; high: number; log: number; ticks: [number, string][] }
export interface MarkJson { x: number; y: number | null; end: number | null; texts: string[] }
export interface LineJson {
  name: string; style: string; hue: number; dash: number;
  x: (number | null)[]; y: (number | null)[]; low: number[]; high: number[]; marks: MarkJson[];
}
export interface FigureJson {
  id: string; title: string; label: string; language: string; note: string; more: string; drive: string; conditions: string;
  x: AxisJson;
  panels: { title: string; y: AxisJson; lines: LineJson[]; bars: unknown[]; marks: MarkJson[] }[];
  strip: unknown;
}

declare global {
  interface HTMLElement {
    /** Set by figure.js: panels in pixels. */
    drawn?: { boxes: { left: number; right: number; top: number; bottom: number }[] };
  }
}

/** Draws a picture into an element, and draws it again when its width changes. */
export function drawn(element: HTMLElement, figure: FigureJson): void {
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", figure.label);
  show(element, figure);
}

/** A picture as a file with its title, as a data address. */
export const saved = (figure: FigureJson, kind: "png" | "svg" | "card", element: HTMLElement): Promise<string> => file(figure, kind, element, false);
