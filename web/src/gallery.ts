// Every drive of the library: its curve, where its figures are from, and up to six beside each other.
import { Chart, type Line } from "./chart";
import { DRIVES, denominatorOf, driveOf, questionOf } from "./data";
import { h } from "./dom";
import { Simulator, Superseded } from "./simulator";
import type { State } from "./state";
import type { Answer, DriveData, Measured } from "./types";
import { size, speed } from "./units";

const MAX_COMPARED = 6;
type Order = "name" | "cache" | "first" | "last" | "mean";

interface Card {
  drive: DriveData;
  answer: Answer | null;
  element: HTMLElement;
}

const known = new Map<string, Answer>();

export function gallery(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const simulator = new Simulator(true);
  let alive = true;
  const charts: Chart[] = [];
  const list = h("ul", { class: "cards" });
  const comparison = h("section", { class: "comparison", "aria-label": "Comparison" });
  const filter = h("input", { type: "search", "aria-label": "Find a drive", placeholder: "Find a drive", oninput: () => arrange() });
  const order = h("select", { "aria-label": "Sort by", onchange: () => arrange() });
  const orders: [Order, string][] = [["name", "by name"], ["cache", "by cache"], ["first", "by speed in the cache"], ["last", "by slowest phase"], ["mean", "by mean of a fill"]];
  order.append(...orders.map(([key, text]) => h("option", { value: key }, text)));

  const cards: Card[] = DRIVES.map((drive) => ({ drive, answer: known.get(drive.slug) ?? null, element: h("li", {}) }));
  const arrange = () => {
    const words = filter.value.toLowerCase();
    const value = (card: Card) => rank(order.value as Order, card);
    const shown = cards.filter((card) => card.drive.name.toLowerCase().includes(words));
    if (order.value === "name") shown.sort((a, b) => a.drive.name.localeCompare(b.drive.name));
    else shown.sort((a, b) => value(b) - value(a));
    list.replaceChildren(...shown.map((card) => card.element));
  };
  const compare = () => {
    comparison.replaceChildren();
    const lines: Line[] = state.compare.flatMap((slug) => {
      const answer = known.get(slug);
      return answer === undefined ? [] : [{ label: driveOf(slug).name, answer, axis: "bytes" as const }];
    });
    if (lines.length === 0) {
      comparison.append(h("p", {}, `Choose up to ${MAX_COMPARED} drives to lay their curves over each other.`));
      return;
    }
    const place = h("div", { class: "plot" });
    comparison.append(place);
    const chart = new Chart(place);
    charts.push(chart);
    chart.show(lines, lines.length === 1 ? published(driveOf(state.compare[0]!)) : null);
  };
  const draw = (card: Card) => {
    const { drive, answer } = card;
    const box = h("input", {
      type: "checkbox", checked: state.compare.includes(drive.slug),
      onchange: (event) => {
        const input = event.target as HTMLInputElement;
        state.compare = input.checked ? [...state.compare, drive.slug] : state.compare.filter((slug) => slug !== drive.slug);
        if (state.compare.length > MAX_COMPARED) {
          state.compare = state.compare.slice(0, MAX_COMPARED);
          input.checked = false;
        }
        changed(state);
        compare();
      },
    });
    const open = () => changed({ ...state, view: "lab", drive: drive.slug, profile: null, knobs: {}, job: "fill" });
    const facts = answer === null
      ? [h("p", {}, "…")]
      : [sparkline(answer), h("p", {}, `${answer.phases.map((phase) => speed(phase.bytes_per_s)).join(" → ")}; cache to ${size((answer.phases[0]?.to_bytes ?? 0) * answer.denominator)}`)];
    card.element.replaceChildren(
      h("h2", {}, h("button", { type: "button", onclick: open }, drive.name)),
      ...facts,
      h("details", {}, h("summary", {}, "Where its figures are from"), h("p", {}, drive.source), h("ul", {}, ...drive.figures.map((figure) => h("li", {}, `${figure.what}${figure.fitted ? " (it was set by this figure)" : ""}`)))),
      h("label", { class: "compare" }, box, "compare"),
    );
  };
  cards.forEach(draw);
  arrange();
  compare();
  void (async () => {
    for (const card of cards) {
      if (!alive || card.answer !== null) continue;
      try {
        card.answer = await simulator.ask(questionOf(card.drive, {}, "fill", denominatorOf(card.drive)));
      } catch (error) {
        if (error instanceof Superseded) return;
        card.element.append(h("p", { class: "problem" }, String(error)));
        continue;
      }
      known.set(card.drive.slug, card.answer);
      draw(card);
      if (state.compare.includes(card.drive.slug)) compare();
    }
    if (order.value !== "name") arrange();
  })();
  const element = h("div", { class: "gallery" }, comparison, h("p", { class: "filters" }, filter, order), list);
  return {
    element,
    destroy: () => {
      alive = false;
      simulator.cancel();
      charts.forEach((chart) => chart.destroy());
    },
  };
}

function rank(order: Order, { answer }: Card): number {
  if (answer === null) return -1;
  const speeds = answer.phases.map((phase) => phase.bytes_per_s);
  if (order === "cache") return (answer.phases[0]?.to_bytes ?? 0) * answer.denominator;
  if (order === "first") return speeds[0] ?? 0;
  if (order === "last") return Math.min(...speeds);
  return (answer.phases.at(-1)?.to_bytes ?? 0) / (answer.end_ns - answer.start_ns);
}

/** The curve in words of a picture: no axes, only its shape. */
function sparkline(answer: Answer): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const top = Math.max(...answer.phases.map((phase) => phase.bytes_per_s));
  const end = answer.phases.at(-1)?.to_bytes ?? 1;
  const corners = answer.phases.flatMap((phase) => {
    const y = 38 - (36 * phase.bytes_per_s) / top;
    return [`${(200 * phase.from_bytes) / end},${y}`, `${(200 * phase.to_bytes) / end},${y}`];
  });
  svg.setAttribute("viewBox", "0 0 200 40");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "sparkline");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", corners.join(" "));
  svg.append(line);
  return svg;
}

/** Published speeds as a stepped line, where enough is known: speeds of phases and where they end. */
function published(drive: DriveData): Measured | null {
  const value = (measure: string) => drive.figures.find((figure) => figure.measure === measure)?.value;
  const ends = [0, value("cache"), value("end 2"), drive.capacity_bytes].filter((end) => end !== undefined);
  const speeds = [value("speed 1"), value("speed 2"), value("speed 3")].filter((rate) => rate !== undefined);
  if (speeds.length === 0 || ends.length < speeds.length + 1) return null;
  const points = speeds.flatMap((rate, place) => [{ x: ends[place]! + 1, y: rate }, { x: place === speeds.length - 1 ? ends.at(-1)! : ends[place + 1]!, y: rate }]);
  return { label: "published", points };
}
