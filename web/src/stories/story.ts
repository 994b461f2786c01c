// A story leads, the reader turns. Every number in its text is taken from the run that is shown, so none can be wrong.
import type { Answer, Phase } from "../types";
import { size, speed } from "../units";

export interface Quiz {
  ask: string;
  choices: string[];
  /** Which of the choices it was, from the run. */
  right(answer: Answer): number;
}

export interface Step {
  drive: string;
  knobs?: Record<string, string>;
  job: string;
  /** Asked before the run is shown. */
  quiz?: Quiz;
  /** Two sentences, of the run that is shown. */
  text(answer: Answer): string;
}

export interface Story {
  title: string;
  steps: Step[];
}

/** Phase of a number from 0, or the last. */
export function phase(answer: Answer, number: number): Phase {
  return answer.phases[Math.min(number, answer.phases.length - 1)]!;
}

export function speedOf(answer: Answer, number: number): string {
  return speed(phase(answer, number).bytes_per_s);
}

export function endOf(answer: Answer, number: number): string {
  return size(phase(answer, number).to_bytes * answer.denominator);
}

/** Mean speed of everything that was written. */
export function meanOf(answer: Answer): string {
  return speed(bytesPerSecond(answer));
}

export function bytesPerSecond(answer: Answer): number {
  const bytes = answer.phases.at(-1)?.to_bytes ?? 0;
  return (bytes / (answer.end_ns - answer.start_ns)) * 1e9;
}

export function written(answer: Answer, counter: string): number {
  return (answer.counters[counter] ?? 0) - (answer.counters_before[counter] ?? 0);
}

/** Bytes programmed into cells for each byte that the host wrote. */
export function writeAmplification(answer: Answer): number {
  const programmed = written(answer, "slc_programmed_bytes_total") + written(answer, "native_programmed_bytes_total");
  return programmed / written(answer, "host_write_bytes_total");
}

/** Room that a pause gave the cache: written into it afterwards, without what was folded meanwhile to make more. */
export function intoCacheAfterPause(answer: Answer): number {
  const { curve, drive } = answer;
  let [before, cached] = [0, 0];
  curve.write_bytes.forEach((bytes, bin) => {
    // The pause comes when 35 % of the drive are written; see jobs.ts.
    if (before >= 0.35 * drive.capacity_bytes) cached += curve.to_slc_bytes[bin]! - curve.folded_bytes[bin]!;
    before += bytes;
  });
  return Math.max(cached, 0) * answer.denominator;
}
