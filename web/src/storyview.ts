// Stories that are read by scrolling: each part shows its run, beside a picture that stays in sight.
import { DRIVES, commandOf, driveOf } from "./data";
import { copier, h } from "./dom";
import { RunView } from "./run";
import type { State } from "./state";
import { STORIES } from "./stories";
import type { Step } from "./stories/story";
import type { Answer, DriveData } from "./types";

export function storyView(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const run = new RunView();
  const story = STORIES[state.story]!;
  const answers: Answer[] = [];
  const parts: HTMLElement[] = [];
  /** The drive that the story is told of, where it is the reader's. */
  let told: string | null = null;

  const stories = h("ol", { class: "stories" }, ...STORIES.map((each, place) => {
    const open = () => { changed({ ...state, view: "story", story: place, step: 0 }); };
    return h("li", {}, h("button", { type: "button", "aria-current": place === state.story ? "step" : undefined, onclick: open }, each.title));
  }));
  const driveFor = (step: Step): DriveData => driveOf(told ?? step.drive);
  const tell = (place: number) => {
    const step = story.steps[place]!;
    state.step = place;
    changed(state);
    parts.forEach((part, at) => part.toggleAttribute("data-current", at === place));
    void run.show(driveFor(step), resolve(step, driveFor(step)), step.job, (answer, isLast) => {
      if (!isLast) return;
      parts.forEach((_, at) => { if (isSameRun(story.steps[at]!, step)) say(at, answer); });
      goOn();
    });
  };
  const say = (place: number, answer: Answer) => {
    const [step, part] = [story.steps[place]!, parts[place]!];
    answers[place] = answer;
    part.querySelector(".told")!.textContent = step.text(answer, answers.slice(0, place));
    part.querySelector(".cells")?.replaceChildren(...(step.cells?.(answer) ?? []).map(cell));
    const details = part.querySelector("details p");
    if (details && step.question) details.textContent = step.question.answer(answer);
  };
  story.steps.forEach((step, place) => {
    const question = step.question === undefined ? [] : [h("details", {}, h("summary", {}, step.question.ask), h("p", {}, "…"))];
    const turn = () => changed({ ...state, view: "lab", drive: driveFor(step).slug, profile: null, knobs: resolve(step, driveFor(step)), job: step.job });
    parts.push(h(
      "section", { class: "part", tabindex: 0, "aria-label": `Part ${place + 1} of ${story.steps.length}`, onfocus: () => { if (state.step !== place) tell(place); } },
      h("p", { class: "told", "aria-live": "polite" }, "…"), ...(step.cells ? [h("p", { class: "cells" })] : []), ...question,
      h("p", { class: "buttons" }, h("button", { type: "button", onclick: turn }, "Turn the knobs yourself"),
        copier("Copy as command", () => commandOf(driveFor(step), resolve(step, driveFor(step)), step.job))),
    ));
  });
  // As the reader scrolls through the parts of a run, the run goes on.
  const goOn = () => {
    const same = parts.filter((_, at) => isSameRun(story.steps[at]!, story.steps[state.step]!));
    const [from, to] = [same[0]!.getBoundingClientRect().top, same.at(-1)!.getBoundingClientRect().bottom];
    // A reader who has not begun sees the whole of it.
    if (scrollY > 0) run.seek(Math.min(1, Math.max(0, (innerHeight / 2 - from) / (to - from))));
  };
  addEventListener("scroll", goOn, { passive: true });
  // The part in the middle of the window is the one that is told.
  const observer = new IntersectionObserver((entries) => {
    const seen = entries.find((entry) => entry.isIntersecting);
    const place = seen === undefined ? -1 : parts.indexOf(seen.target as HTMLElement);
    if (place >= 0 && place !== state.step) tell(place);
  }, { rootMargin: "-45% 0px -45% 0px" });

  const yours = h("select", { onchange: () => { told = yours.value || null; answers.length = 0; tell(state.step); } }, h("option", { value: "" }, "as in the story"));
  yours.append(...DRIVES.map((drive) => h("option", { value: drive.slug }, drive.name)));
  const element = h(
    "div", { class: "story" }, h("nav", { "aria-label": "Stories" }, stories),
    h("div", { class: "parts" }, h("h2", { tabindex: -1 }, story.title), ...parts, h("label", {}, "Tell it of your drive", yours)), run.element,
  );
  queueMicrotask(() => {
    tell(state.step);
    if (state.step > 0) parts[state.step]!.scrollIntoView({ block: "center" });
    parts.forEach((part) => observer.observe(part));
  });
  return { element, destroy: () => { removeEventListener("scroll", goOn); observer.disconnect(); run.destroy(); } };
}

const isSameRun = (a: Step, b: Step): boolean => JSON.stringify([a.drive, a.knobs, a.job]) === JSON.stringify([b.drive, b.knobs, b.job]);

/** A cell, with the levels that so many bits need. */
function cell(bits: number): SVGElement {
  const levels = 2 ** bits;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 120 150");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `A cell with ${bits} bit${bits === 1 ? "" : "s"}: ${levels} levels`);
  const bars = Array.from({ length: levels }, (_, at) => `<rect x="10" y="${10 + (at * 110) / levels}" width="100" height="${110 / levels - 1.5}" class="${bits === 1 ? "slc" : "native"}"/>`);
  svg.innerHTML = `${bars.join("")}<text x="60" y="140" text-anchor="middle">${bits} bit${bits === 1 ? "" : "s"}: ${levels} levels</text>`;
  return svg;
}

/** Knobs of a step on a drive; `+25%` is so much more than the drive has. */
function resolve(step: Step, drive: DriveData): Record<string, string> {
  return Object.fromEntries(
    Object.entries(step.knobs ?? {}).map(([key, value]) => {
      const more = /^\+([0-9]+)%$/.exec(value);
      if (more === null) return [key, value];
      const base = Number.parseInt(drive.knobs.find((knob) => knob.key === key)?.value ?? "0", 10);
      return [key, String(Math.round(base * (1 + Number(more[1]) / 100)))];
    }),
  );
}
