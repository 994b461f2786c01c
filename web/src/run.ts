// A drive, its curve, its film and its phases: what a story, the lab and a dropped file show alike.
import { Chart, type Axis, type Line } from "./figure";
import { denominatorOf, questionOf, quickerDenominatorOf } from "./data";
import { h } from "./dom";
import { FilmStrip } from "./film";
import { jobOf } from "./jobs";
import { bandOf, bandOfParts, besideAlike } from "./alike";
import { afterRest, felt, feltOf, phaseRow, summary } from "./phases";
import { Failed, Simulator, Superseded } from "./simulator";
import type { Answer, DriveData, Measured } from "./types";

/** A knob's first answer is asked of a copy small enough for it, which leaves time to draw. */
const FIRST_ANSWER_MS = 60;
/** The whole drive follows when the reader has not moved for a moment. */
const SETTLE_MS = 120;


export class RunView {
  readonly element: HTMLElement;
  private readonly plot = h("div", { class: "plot" });
  private readonly progress = h("progress", { max: 1000, "aria-label": "The whole drive is being computed" });
  private readonly sentence = h("p", { class: "summary", role: "status" });
  private readonly problem = h("p", { class: "problem", role: "alert", hidden: true });
  private readonly table = h("tbody", {});
  private readonly chart = new Chart(this.plot);
  private readonly film = new FilmStrip((answer, frame) => this.mark(answer, frame));
  /** The smaller copy answers at once, and goes on while the whole drive is given up. */
  private readonly small = new Simulator(false);
  private readonly whole = new Simulator(true);
  private axis: Axis = "bytes";
  private job = "fill";
  /** The whole drive before a knob moved; its curve stays behind the new one. */
  private before: Answer | null = null;
  private last: Answer | null = null;
  /** What the last first answer was, and what it took. */
  private first = { drive: "", denominator: 1, spent: 0 };
  private measured: Measured | null = null;
  private asked = 0;
  /** The drive; null with a knob turned. */
  private sold: DriveData | null = null;

  /** @param isBesideAlike - Whether a fill is shown beside drives that are built alike. */
  constructor(private readonly isBesideAlike = false) {
    const head = ["Where it goes", "Part", "Speed", "Takes"].map((name) => h("th", { scope: "col" }, name));
    this.element = h(
      "section",
      { class: "run", "aria-label": "The run" },
      this.problem, this.plot, this.progress, this.sentence, this.film.element,
      h("table", {}, h("caption", {}, "Phases, by the drive's own counters"), h("thead", {}, h("tr", {}, ...head)), this.table),
    );
  }

  /** A first answer from a smaller copy of the drive, then the last one, of the whole; `answered` is called with both. */
  async show(drive: DriveData, knobs: Record<string, string>, job: string, answered: (answer: Answer, isLast: boolean) => void = () => {}): Promise<void> {
    const turn = ++this.asked;
    delete this.element.dataset["done"];
    delete this.element.dataset["rested"];
    this.axis = jobOf(job).axis;
    this.job = job;
    this.sold = Object.keys(knobs).length === 0 ? drive : null;
    this.progress.hidden = false;
    this.progress.removeAttribute("value");
    const coarse = this.coarse(drive);
    const smallOnly = jobOf(job).smallOnly === true;
    const denominators = coarse === 1 ? [1] : smallOnly ? [coarse] : [coarse, 1];
    this.whole.cancel();
    for (const denominator of denominators) {
      const last = denominator === denominators.at(-1);
      const question = questionOf(drive, knobs, job, denominator);
      try {
        if (last && denominators.length > 1) await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
        if (turn !== this.asked) return;
        const began = performance.now();
        const answer = await (last ? this.whole : this.small).ask(question, (permille) => {
          if (last) this.progress.value = permille;
        });
        if (turn !== this.asked) return;
        if (!last) this.first = { drive: drive.slug, denominator, spent: performance.now() - began };
        this.draw(answer);
        answered(answer, last);
      } catch (error) {
        if (error instanceof Superseded || turn !== this.asked) return;
        // What a scaled drive cannot do, the whole one may.
        if (error instanceof Failed && denominator > 1 && !smallOnly) continue;
        this.fail(error instanceof Failed ? `${error.failure.message}. ${error.failure.hint}` : String(error));
        return;
      }
    }
    this.progress.hidden = true;
    this.element.dataset["done"] = "true";
  }

  /** Adds to the sentence of a fill how long the drive rests until it is fast again. */
  async rest(drive: DriveData, knobs: Record<string, string>): Promise<void> {
    const turn = this.asked;
    try {
      const answer = await this.whole.ask(questionOf(drive, knobs, "pause-1h", 1), () => {});
      if (turn !== this.asked) return;
      this.sentence.append(afterRest(answer));
      this.element.dataset["rested"] = "true";
    } catch (error) {
      if (!(error instanceof Superseded || error instanceof Failed)) throw error;
    }
  }

  /** How small the copy is that answers first: as small as this computer needs. */
  private coarse(drive: DriveData): number {
    const { first } = this;
    return first.drive === drive.slug ? quickerDenominatorOf(drive, first.denominator, first.spent, FIRST_ANSWER_MS) : denominatorOf(drive);
  }

  /** Lays a measured curve over those of the drive; it stays until another comes. */
  lay(measured: Measured | null): void {
    this.measured = measured;
  }

  /** The curve as a PNG of 1600 x 900. */
  picture(kind: "png" | "card"): Promise<string> {
    return this.chart.file(kind);
  }

  /** Shows the moment at a share of the run, from 0 to 1, in the film and on the curve. */
  seek(share: number): void {
    this.film.seek(share);
  }

  /** What is shown now stays behind what comes, until `false`. */
  keepBefore(kept: boolean): void {
    this.before = kept ? (this.before ?? this.last) : null;
  }

  private fail(words: string): void {
    this.progress.hidden = true;
    this.element.dataset["done"] = "failed";
    this.problem.hidden = false;
    this.problem.textContent = words;
    this.element.classList.add("stale");
  }

  private draw(answer: Answer): void {
    this.problem.hidden = true;
    this.element.classList.remove("stale");
    this.element.classList.toggle("coarse", answer.denominator > 1);
    this.element.dataset["denominator"] = String(answer.denominator);
    this.chart.mark(Number.NaN);
    const lines: Line[] = [{ label: answer.drive.name, answer, axis: this.axis }];
    if (this.before !== null) lines.push({ label: "before", answer: this.before, axis: this.axis, before: true });
    const isBeside = this.isBesideAlike && this.job === "fill";
    const predicted = this.job === "fill" ? (this.sold?.fill.predicted ?? "") : "";
    const band = predicted ? bandOfParts(this.sold!) : isBeside ? bandOf(answer) : null;
    this.chart.show(lines, this.axis === "bytes" ? this.measured : null, band);
    if (answer.denominator === 1) this.last = answer;
    this.sentence.textContent = summary(answer) + (this.job === "fill" ? felt(answer) : "") + (isBeside ? besideAlike(answer) : "") + (this.measured && this.job === "fill" ? feltOf(this.measured) : "") + [...answer.notes, ...(predicted ? [predicted] : [])].map((note) => ` Note: ${note}.`).join("");
    this.table.replaceChildren(
      ...answer.phases.map((phase) => h("tr", {}, ...phaseRow(phase, answer.denominator).map((text) => h("td", {}, text)))),
    );
    this.film.show(answer);
  }

  private mark(answer: Answer, frame: number): void {
    const moment = answer.film[frame];
    if (moment === undefined) return;
    const first = answer.counters_before["host_write_bytes_total"]! + answer.counters_before["host_read_bytes_total"]!;
    const position = this.axis === "bytes" ? moment.moved_bytes - first : moment.at_ns - answer.start_ns;
    this.chart.mark(position * answer.denominator);
  }

  destroy(): void {
    this.asked++;
    this.small.cancel();
    this.whole.cancel();
  }
}
