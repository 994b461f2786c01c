// What phases are called, everywhere on the page.
import { WORDS } from "./data";
import type { Answer, Cause, Measured, Phase } from "./types";
import { size, speed, time } from "./units";

/** In the words of all pictures. */
export function causeLabel(cause: Cause): string {
  return WORDS[cause] ?? cause;
}

/** A sentence for eyes and for screen readers. */
export function summary(answer: Answer): string {
  const parts = answer.phases.map(
    (phase) => `${speed(phase.bytes_per_s)} until ${size(phase.to_bytes * answer.denominator)} (${causeLabel(phase.cause)})`,
  );
  const scale = answer.denominator > 1 ? ` Computed on a copy of the drive 1/${answer.denominator} its size.` : "";
  return `${answer.drive.name}: ${parts.join(", then ")}.${scale}`;
}

/** Seconds in which so many bytes were written, from a byte on; null where the run is shorter. */
function secondsOf({ phases, denominator }: Pick<Answer, "phases" | "denominator">, from: number, bytes: number): number | null {
  const [start, end] = [from / denominator, (from + bytes) / denominator];
  if ((phases.at(-1)?.to_bytes ?? 0) < end || from < 0) return null;
  return phases.reduce((sum, phase) => {
    const shared = Math.min(phase.to_bytes, end) - Math.max(phase.from_bytes, start);
    return sum + (shared > 0 ? shared / phase.bytes_per_s : 0);
  }, 0) * denominator;
}

/** What people copy, by bytes, and the smallest drive that it is told of. */
const PIECES = [{ bytes: 100e9, words: "a game of 100 GB", from: 400e9 }, { bytes: 10e9, words: "a film of 10 GB", from: 0 }];
const pieceOf = (capacity: number) => PIECES.find(({ from }) => capacity >= from)!;
const spent = (seconds: number): string => time(seconds * 1e9);

/** A fill as people feel it: two pieces that are copied behind each other onto an empty drive, and the last one. */
export function felt(answer: Answer): string {
  const end = (answer.phases.at(-1)?.to_bytes ?? 0) * answer.denominator;
  const { bytes, words } = pieceOf(end);
  const [first, second, last] = [0, bytes, end - bytes].map((from) => secondsOf(answer, from, bytes));
  if (first == null || second == null || last == null) return "";
  return ` Onto the empty drive ${words} is written in ${spent(first)}, the next in ${spent(second)}, and the last before it is full in ${spent(last)}.`;
}

/** The same of a curve that somebody measured. */
export function feltOf({ label, points }: Measured): string {
  const phases = points.map(({ x, y }, at) => ({ from_bytes: points[at - 1]?.x ?? 0, to_bytes: x, bytes_per_s: y }) as Phase);
  const { bytes, words } = pieceOf(2 * points.at(-1)!.x);
  const [first, second] = [0, bytes].map((from) => secondsOf({ phases, denominator: 1 }, from, bytes));
  return first == null || second == null ? "" : ` By ${label} ${words} takes ${spent(first)}, the next ${spent(second)}.`;
}

const BEFORE_REST = 0.35;
/** A piece is as fast again when it takes no longer than this times the first. */
const AS_FAST_RATIO = 1.1;
/** A cache is full when this share of what is written went past it. */
const MIN_PAST_SHARE = 0.002;
const MINUTE_NS = 60e9;

/** Whether rest makes a drive fast again whose cache is full, and how long it takes, of the job `pause-1h` (see jobs.ts). */
export function afterRest(answer: Answer): string {
  const written = BEFORE_REST * answer.drive.capacity_bytes;
  const { bytes, words } = pieceOf(answer.drive.capacity_bytes);
  // A bin across the pause is of the phase before it.
  const from = answer.phases.find((phase) => phase.from_bytes >= written && phase.from_bytes < 1.01 * written)?.from_bytes ?? written;
  const [first, again] = [0, from].map((byte) => secondsOf(answer, byte, bytes));
  const { end_ns, write_bytes, idle_folded_bytes, to_native_bytes, folded_bytes } = answer.over_time;
  const pause = end_ns.map((_, bin) => bin).filter((bin) => write_bytes[bin] === 0);
  const past = [...to_native_bytes.slice(0, pause[0]), ...folded_bytes.slice(0, pause[0])].reduce((sum, bytes) => sum + bytes, 0);
  if (first == null || again == null || pause.length === 0 || past < MIN_PAST_SHARE * written) return "";
  const [start, folded] = [end_ns[pause[0]! - 1] ?? answer.start_ns, pause.filter((bin) => idle_folded_bytes[bin]! > 0)];
  const next = `the next ${words.replace(/^a /, "")} takes ${spent(again)}`;
  if (folded.length === 0) return again <= AS_FAST_RATIO * first ? "" : ` Rest does not make it fast again: after an hour ${next}.`;
  if (folded.at(-1) === pause.at(-1)) return ` Once its cache is full, an hour of rest does not empty it: ${next}.`;
  const ns = end_ns[folded.at(-1)!]! - start;
  const rest = ns < MINUTE_NS ? "less than a minute" : time(ns);
  if (again > AS_FAST_RATIO * first) return ` Once its cache is full, it folds for ${rest} and no longer: ${next}.`;
  return ` Once its cache is full, ${rest} of rest makes it fast again: ${next}.`;
}

export function phaseRow(phase: Phase, denominator: number): string[] {
  return [
    causeLabel(phase.cause),
    `${size(phase.from_bytes * denominator)} to ${size(phase.to_bytes * denominator)}`,
    speed(phase.bytes_per_s),
    time((phase.to_ns - phase.from_ns) * denominator),
  ];
}
