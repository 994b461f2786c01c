// A story, step by step: what will happen, what happened, and why.
import { driveOf } from "./data";
import { h } from "./dom";
import { RunView } from "./run";
import type { State } from "./state";
import { STORIES } from "./stories";
import type { Step } from "./stories/story";
import type { Answer } from "./types";

export function storyView(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const run = new RunView();
  const story = STORIES[Math.min(state.story, STORIES.length - 1)]!;
  const text = h("div", { class: "text" });
  const title = h("h2", { tabindex: -1 });
  const back = h("button", { type: "button", onclick: () => go(-1) }, "Back");
  const next = h("button", { type: "button", class: "next", onclick: () => go(1) }, "Next");

  const stories = h("ol", { class: "stories" }, ...STORIES.map((each, place) => {
    const open = () => { changed({ ...state, view: "story", story: place, step: 0 }); };
    return h("li", {}, h("button", { type: "button", "aria-current": place === state.story ? "step" : undefined, onclick: open }, each.title));
  }));

  const go = (by: number) => {
    state.step = Math.min(Math.max(state.step + by, 0), story.steps.length - 1);
    changed(state);
    show();
    title.focus();
  };
  const show = () => {
    const step = story.steps[Math.min(state.step, story.steps.length - 1)]!;
    title.textContent = `${story.title} (${state.step + 1} of ${story.steps.length})`;
    back.disabled = state.step === 0;
    next.disabled = state.step >= story.steps.length - 1;
    tell(step);
  };
  const tell = (step: Step) => {
    let answered = step.quiz === undefined;
    let answer: Answer | null = null;
    let choice = -1;
    const paragraph = h("p", { class: "told", "aria-live": "polite" });
    const quiz = h("fieldset", { class: "quiz" });
    const open = () => h("button", { type: "button", onclick: () => changed({ ...state, view: "lab", drive: step.drive, knobs: { ...step.knobs }, job: step.job }) }, "Turn the knobs yourself");
    const update = () => {
      run.element.classList.toggle("hidden", !answered);
      if (!answered || answer === null) return;
      const right = step.quiz?.right(answer);
      const verdict = right === undefined ? "" : choice === right ? "Right. " : `Not quite: “${step.quiz!.choices[right]}”. `;
      paragraph.textContent = verdict + step.text(answer);
    };
    if (step.quiz !== undefined) {
      quiz.append(h("legend", {}, step.quiz.ask), ...step.quiz.choices.map((words, place) => h("button", {
        type: "button",
        onclick: () => {
          [answered, choice] = [true, place];
          quiz.disabled = true;
          update();
        },
      }, words)));
    }
    text.replaceChildren(...(step.quiz ? [quiz] : []), paragraph, h("p", { class: "buttons" }, back, next, open()));
    update();
    void run.show(driveOf(step.drive), resolve(step), step.job, (newest) => {
      answer = newest;
      update();
    });
  };
  show();
  const element = h("div", { class: "story" }, h("nav", { "aria-label": "Stories" }, stories), h("div", { class: "told-run" }, title, text, run.element));
  return { element, destroy: () => run.destroy() };
}

/** Knobs of a step; `+25%` is so much more than the drive has. */
export function resolve(step: Step): Record<string, string> {
  const drive = driveOf(step.drive);
  return Object.fromEntries(
    Object.entries(step.knobs ?? {}).map(([key, value]) => {
      const more = /^\+([0-9]+)%$/.exec(value);
      if (more === null) return [key, value];
      const base = Number.parseInt(drive.knobs.find((knob) => knob.key === key)?.value ?? "0", 10);
      return [key, String(Math.round(base * (1 + Number(more[1]) / 100)))];
    }),
  );
}
