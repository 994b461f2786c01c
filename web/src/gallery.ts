// Every drive of the library in a table, from fills that were computed when the page was built; up to six beside each other.
import { DRIVES, commandOf, denominatorOf, driveOf, questionOf } from "./data";
import { copier, h } from "./dom";
import { drawn } from "./drawing";
import { axisOf, Chart, type Line } from "./figure";
import { Simulator, Superseded } from "./simulator";
import type { State } from "./state";
import type { Answer, DriveData, Measured } from "./types";
import { size, speed, time } from "./units";

const MAX_COMPARED = 6;

interface Column {
  name: string;
  /** What is sorted by; null comes last, whichever way. */
  value(drive: DriveData): number | string | null;
  text(drive: DriveData): string;
}

const rate = (value: number | null): string => (value === null ? "" : speed(value));
function restText({ recovery: { rest_s, tried_s, is_shown } }: DriveData): string {
  if (rest_s !== null) return `${is_shown ? "" : "about "}${time(rest_s * 1e9)}`;
  return tried_s === null ? "none" : `not within ${time(tried_s * 1e9)}`;
}

const COLUMNS: Column[] = [
  { name: "Drive", value: (drive) => drive.name, text: (drive) => drive.name },
  { name: "Capacity", value: (drive) => drive.capacity_bytes, text: (drive) => size(drive.capacity_bytes) },
  { name: "Bits a cell", value: (drive) => drive.bits_per_cell, text: (drive) => String(drive.bits_per_cell) },
  { name: "Map", value: (drive) => drive.fill.map, text: (drive) => drive.fill.map },
  { name: "Year", value: (drive) => drive.year, text: (drive) => String(drive.year ?? "") },
  { name: "Link", value: (drive) => drive.fill.link, text: (drive) => drive.fill.link },
  { name: "Cache", value: (drive) => drive.fill.cache_bytes, text: (drive) => (drive.fill.cache_bytes === null ? "none seen" : size(drive.fill.cache_bytes)) },
  { name: "In it", value: (drive) => drive.fill.cached_bytes_per_s, text: (drive) => rate(drive.fill.cached_bytes_per_s) },
  { name: "Past it", value: (drive) => drive.fill.past_bytes_per_s, text: (drive) => rate(drive.fill.past_bytes_per_s) },
  { name: "Mean", value: (drive) => drive.fill.mean_bytes_per_s, text: (drive) => rate(drive.fill.mean_bytes_per_s) },
  { name: "Folds when idle for", value: (drive) => drive.fill.idle_s, text: (drive) => (drive.fill.idle_s === null ? "never" : time(drive.fill.idle_s * 1e9)) },
  { name: "Back after a rest of", value: (drive) => drive.recovery.rest_s, text: restText },
  { name: "Off published figures", value: (drive) => offPublished(drive)?.share ?? null, text: offText },
];

/** The middle of how far the fill is off published figures of which the drive has learnt nothing. */
function offPublished({ figures, fill }: DriveData): { share: number; count: number } | null {
  const { phases, cache_bytes, mean_bytes_per_s } = fill;
  const own: Record<string, number | null | undefined> = { cache: cache_bytes, mean: mean_bytes_per_s, "end 2": phases[1]?.[0] };
  phases.forEach(([, bytesPerSecond], place) => { own[`speed ${place + 1}`] = bytesPerSecond; });
  const shares = figures.filter((figure) => !figure.fitted).flatMap(({ measure, value }) => (own[measure] ? [Math.abs(own[measure] / value - 1)] : []));
  shares.sort((a, b) => a - b);
  return shares.length === 0 ? null : { share: shares[Math.floor(shares.length / 2)]!, count: shares.length };
}

function offText(drive: DriveData): string {
  const off = offPublished(drive);
  if (off !== null) return `${Math.round(100 * off.share)} % (of ${off.count})`;
  return drive.figures.length > 0 ? "learnt from them" : "none published";
}

export function gallery(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const simulator = new Simulator(false);
  let alive = true;
  let [order, falling] = [0, false];
  const answers = new Map<string, Answer>();
  const comparison = h("section", { class: "comparison", "aria-label": "Comparison" });
  const table = h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Drives" });
  const filter = h("input", { type: "search", "aria-label": "Find a drive", placeholder: "qlc sata samsung 2 TB", oninput: () => list() });

  const compare = async () => {
    const slugs = [...state.compare];
    if (slugs.length === 0) return comparison.replaceChildren(scatter());
    for (const slug of slugs) {
      if (answers.has(slug)) continue;
      try {
        answers.set(slug, await simulator.ask(questionOf(driveOf(slug), {}, "fill", denominatorOf(driveOf(slug)))));
      } catch (error) {
        if (error instanceof Superseded || !alive) return;
        return comparison.replaceChildren(h("p", { class: "problem" }, String(error)));
      }
    }
    if (!alive || slugs.join() !== state.compare.join()) return;
    const lines: Line[] = slugs.map((slug) => ({ label: driveOf(slug).name, answer: answers.get(slug)!, axis: "bytes" }));
    const place = h("div", { class: "plot" });
    comparison.replaceChildren(place, copier("Copy as commands", () => slugs.map((slug) => commandOf(driveOf(slug), {}, "fill")).join("\n")));
    new Chart(place).show(lines, lines.length === 1 ? published(driveOf(slugs[0]!)) : null);
  };
  const row = (drive: DriveData) => {
    const pick = h("input", {
      type: "checkbox", checked: state.compare.includes(drive.slug), "aria-label": `Compare ${drive.name}`,
      onchange: (event) => {
        const input = event.target as HTMLInputElement;
        const rest = state.compare.filter((slug) => slug !== drive.slug);
        state.compare = input.checked ? [...rest, drive.slug].slice(0, MAX_COMPARED) : rest;
        input.checked = state.compare.includes(drive.slug);
        changed(state);
        void compare();
      },
    });
    const open = h("button", { type: "button", onclick: () => changed({ ...state, view: "lab", drive: drive.slug, profile: null, knobs: {}, job: "fill" }) }, drive.name);
    const cells = COLUMNS.slice(1).map((column) => h("td", { class: typeof column.value(drive) === "number" ? "number" : undefined }, column.text(drive)));
    return h("tr", { title: drive.source }, h("td", {}, pick), h("th", { scope: "row" }, open), h("td", {}, sparkline(drive)), ...cells);
  };
  const list = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const shown = DRIVES.filter((drive) => {
      const text = `${COLUMNS.map((column) => column.text(drive)).join(" ")} ${["", "slc", "mlc", "tlc", "qlc", "plc"][drive.bits_per_cell]}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const value = COLUMNS[order]!.value;
    shown.sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      return (left < right ? -1 : left > right ? 1 : 0) * (falling ? -1 : 1);
    });
    const head = ({ name }: Column, place: number) => h("th", { scope: "col", "aria-sort": place === order ? (falling ? "descending" : "ascending") : undefined },
      h("button", { type: "button", onclick: () => { [order, falling] = [place, place === order ? !falling : place > 0]; list(); } }, name));
    const [first, ...others] = COLUMNS.map(head);
    table.replaceChildren(h(
      "table", { class: "drives" }, h("caption", {}, `${shown.length} drives, each filled once from empty`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Compare"), first!, h("th", { scope: "col" }, "Curve"), ...others)),
      h("tbody", {}, ...shown.map(row)),
    ));
  };
  list();
  void compare();
  const element = h("div", { class: "gallery" }, h("h2", {}, "Drives"), comparison, h("p", { class: "filters" }, filter), table);
  return { element, destroy: () => { alive = false; simulator.cancel(); } };
}

/** The curve in words of a picture: no axes, only its shape. */
function sparkline({ fill }: DriveData): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const [top, end] = [Math.max(...fill.phases.map((phase) => phase[1])), fill.phases.at(-1)?.[0] ?? 1];
  let from = 0;
  const corners = fill.phases.flatMap(([to, bytesPerSecond]) => {
    const y = 29 - (27 * bytesPerSecond) / top;
    const part = [`${(100 * from) / end},${y}`, `${(100 * to) / end},${y}`];
    from = to;
    return part;
  });
  svg.setAttribute("viewBox", "0 0 100 30");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "sparkline");
  svg.innerHTML = `<polyline points="${corners.join(" ")}"/>`;
  return svg;
}

/** Cache against speed past it, a point a drive. */
function scatter(): HTMLElement {
  const place = h("div", { class: "plot" });
  const drives = DRIVES.filter((drive) => drive.fill.cache_bytes !== null && drive.fill.past_bytes_per_s !== null);
  const [x, y] = [drives.map((drive) => drive.fill.cache_bytes! / 1e9), drives.map((drive) => drive.fill.past_bytes_per_s! / 1e6)];
  // Named are those that no other drive beats in both.
  const isBest = (at: number) => !drives.some((_, other) => x[other]! > x[at]! && y[other]! > y[at]!);
  const marks = drives.flatMap((drive, at) => (isBest(at) ? [{ x: x[at]!, y: y[at]!, end: null, texts: [drive.name] }] : []));
  const title = "Cache against the mean speed past it";
  drawn(place, {
    id: "scatter", title, label: `${title}; the table has the figures.`, language: "en", note: "", more: "", drive: "", conditions: "", strip: null,
    x: axisOf("cache", "GB", 1e9, Math.max(...x) * 1.05),
    panels: [{ title: "", y: axisOf("speed past the cache", "MB/s", 1e6, Math.max(...y) * 1.1), bars: [], marks: [],
      lines: [{ name: "drives", style: "dots", hue: 0, dash: 0, x, y, low: [], high: [], marks }] }],
  });
  return place;
}

/** Published speeds as a stepped line, where enough is known: speeds of phases and where they end. */
function published(drive: DriveData): Measured | null {
  const value = (measure: string) => drive.figures.find((figure) => figure.measure === measure)?.value;
  const ends = [0, value("cache"), value("end 2"), drive.capacity_bytes].filter((end) => end !== undefined);
  const speeds = [value("speed 1"), value("speed 2"), value("speed 3")].filter((each) => each !== undefined);
  if (speeds.length === 0 || ends.length < speeds.length + 1) return null;
  const points = speeds.flatMap((each, place) => [{ x: ends[place]! + 1, y: each }, { x: place === speeds.length - 1 ? ends.at(-1)! : ends[place + 1]!, y: each }]);
  return { label: "published", points };
}
