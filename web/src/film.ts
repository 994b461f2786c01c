// The superblocks of the drive, a square each, moving in time with the curve.
import { h } from "./dom";
import type { Answer } from "./types";
import { size, time } from "./units";

const SLC = 0x40;
const NATIVE = 0x80;
const OPEN = 0x20;
const VALID = 0x1f;
/** A whole film lasts so long. */
const SHOW_MS = 12_000;

export class FilmStrip {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { role: "img", "aria-label": "Superblocks of the drive" });
  private readonly slider = h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Moment of the run" });
  private readonly play = h("button", { type: "button", onclick: () => this.toggle() }, "Play");
  private readonly caption = h("output", {});
  private answer: Answer | null = null;
  private began = 0;
  private playing = false;

  constructor(private readonly moved: (answer: Answer, frame: number) => void) {
    this.slider.addEventListener("input", () => this.stop());
    this.slider.addEventListener("input", () => this.draw());
    // A canvas keeps the colors that it was painted with.
    for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", () => this.draw());
    const key = (kind: string, label: string) => h("span", { class: "key" }, h("i", { class: kind }), label);
    this.element = h(
      "figure",
      { class: "film" },
      this.canvas,
      h("div", { class: "controls" }, this.play, this.slider),
      h("figcaption", {}, this.caption, key("slc", "in the cache, one bit a cell"), key("native", "in cells with all their bits"), key("stale", "out of date"), key("free", "empty")),
    );
  }

  show(answer: Answer): void {
    this.stop();
    this.answer = answer;
    this.slider.max = String(Math.max(answer.film.length - 1, 0));
    this.slider.value = this.slider.max;
    this.draw();
  }

  /** Shows the moment at a share of the run, from 0 to 1. */
  seek(share: number): void {
    if (this.playing) return;
    this.slider.value = String(Math.round(share * Number(this.slider.max)));
    this.draw();
  }

  private toggle(): void {
    if (this.playing) return this.stop();
    if (this.answer === null) return;
    this.playing = true;
    this.play.textContent = "Pause";
    const frames = Math.max(this.answer.film.length - 1, 1);
    const at = Number(this.slider.value) >= frames ? 0 : Number(this.slider.value);
    this.began = performance.now() - (at / frames) * SHOW_MS;
    requestAnimationFrame(() => this.step());
  }

  private step(): void {
    if (!this.playing || this.answer === null) return;
    const frames = this.answer.film.length - 1;
    const frame = Math.floor(((performance.now() - this.began) / SHOW_MS) * frames);
    this.slider.value = String(Math.min(frame, frames));
    this.draw();
    if (frame >= frames) this.stop();
    else requestAnimationFrame(() => this.step());
  }

  private stop(): void {
    this.playing = false;
    this.play.textContent = "Play";
  }

  private draw(): void {
    const { answer } = this;
    const frame = Number(this.slider.value);
    const moment = answer?.film[frame];
    if (answer === null || moment === undefined) return;
    const count = answer.drive.superblocks;
    const cells = answer.pictures.subarray(frame * count, (frame + 1) * count);
    const width = this.canvas.clientWidth || 600;
    const columns = Math.ceil(Math.sqrt((count * width) / 110));
    const cell = Math.max(2, Math.floor(width / columns));
    const rows = Math.ceil(count / columns);
    const scale = devicePixelRatio || 1;
    this.canvas.width = columns * cell * scale;
    this.canvas.height = rows * cell * scale;
    this.canvas.style.height = `${rows * cell}px`;
    const paint = this.canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const [slc, native, free, stale] = [color("--slc"), color("--native"), color("--free"), color("--stale")];
    const inner = (cell - (cell > 4 ? 1 : 0)) * scale;
    cells.forEach((state, index) => {
      const x = (index % columns) * cell * scale;
      const y = Math.floor(index / columns) * cell * scale;
      paint.fillStyle = state === 0 ? free : stale;
      paint.fillRect(x, y, inner, inner);
      if (state === 0) return;
      paint.fillStyle = state & SLC ? slc : native;
      const valid = ((state & VALID) / VALID) * inner;
      paint.fillRect(x, y + inner - valid, inner, valid);
      if (state & OPEN) {
        paint.fillStyle = color("--ink");
        paint.fillRect(x + inner * 0.35, y + inner * 0.35, inner * 0.3, inner * 0.3);
      }
    });
    const share = (kind: number) => Math.round((cells.filter((state) => state & kind).length / count) * 100);
    const at = `${size(moment.moved_bytes * answer.denominator)}, ${time((moment.at_ns - answer.start_ns) * answer.denominator)}`;
    this.caption.textContent = `After ${at}: ${share(SLC)} % of the superblocks in pSLC, ${share(NATIVE)} % native.`;
    this.moved(answer, frame);
  }
}
