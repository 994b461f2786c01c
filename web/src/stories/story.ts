// A story leads, the reader scrolls. Every claim is computed from the run that is shown, so it holds for any drive.
import type { Answer, Phase } from "../types";
import { size, speed, time } from "../units";

export interface Step {
  drive: string;
  /** `+25%` is so much more than the drive has. */
  knobs?: Record<string, string>;
  job: string;
  /** What the run shows, in a few short sentences. `earlier` are the answers of the steps before, as far as they are there. */
  text(answer: Answer, earlier: Answer[]): string;
  /** To think about before the next part; it locks nothing. */
  question?: { ask: string; answer(answer: Answer): string };
  /** Bits of each cell that is drawn beside the text. */
  cells?: (answer: Answer) => number[];
}

export interface Story {
  title: string;
  steps: Step[];
}

/** Smallest change of speed that a reader sees as a fall, as phases are told apart. */
const MIN_FALL_RATIO = 1.12;
/** A phase folds when this share of what is written in it is moved out of the cache meanwhile. */
const MIN_FOLDED_SHARE = 0.05;

/** Where the speed falls: the phases before and after each fall. */
export function falls(answer: Answer): [Phase, Phase][] {
  const pairs = answer.phases.slice(1).map((after, at) => [answer.phases[at]!, after] as [Phase, Phase]);
  return pairs.filter(([before, after]) => before.bytes_per_s / after.bytes_per_s > MIN_FALL_RATIO);
}

export const ofWhole = (answer: Answer, bytes: number): string => size(bytes * answer.denominator);
export const spoken = (phase: Phase): string => speed(phase.bytes_per_s);

/** Bytes of a phase by where they went: whatever limits its speed, that tells a cache. */
function moved({ curve }: Answer, phase: Phase): { slc: number; native: number; folded: number } {
  const sums = { slc: 0, native: 0, folded: 0 };
  let end = 0;
  curve.write_bytes.forEach((bytes, bin) => {
    end += bytes + curve.read_bytes[bin]!;
    if (end <= phase.from_bytes || end > phase.to_bytes) return;
    sums.slc += curve.to_slc_bytes[bin]!;
    sums.native += curve.to_native_bytes[bin]!;
    sums.folded += curve.folded_bytes[bin]!;
  });
  return sums;
}

export function isCached(answer: Answer, phase: Phase | undefined): boolean {
  if (phase === undefined) return false;
  const { slc, native } = moved(answer, phase);
  return slc > native && !isFolding(answer, phase);
}

export const isDirect = (answer: Answer, phase: Phase): boolean => moved(answer, phase).native >= moved(answer, phase).slc;
export const isFolding = (answer: Answer, phase: Phase): boolean => moved(answer, phase).folded > MIN_FOLDED_SHARE * (phase.to_bytes - phase.from_bytes);

/** The phases at the start that fill the cache; empty of a drive without one. */
export function cachePhases(answer: Answer): Phase[] {
  const end = answer.phases.findIndex((phase) => !isCached(answer, phase));
  return answer.phases.slice(0, end < 0 ? answer.phases.length : end);
}

/** The first phase in which the drive folds, if any. */
export const foldingPhase = (answer: Answer): Phase | undefined => answer.phases.find((phase) => isFolding(answer, phase));

/** Share of the superblocks that are free at a byte of the run. */
export function freeShare({ film, pictures, drive }: Answer, byte: number): number {
  const frame = Math.max(0, film.findIndex(({ moved_bytes }) => moved_bytes >= byte));
  const states = pictures.subarray(frame * drive.superblocks, (frame + 1) * drive.superblocks);
  return states.filter((state) => state === 0).length / drive.superblocks;
}

/** Mean speed of everything that was written, pauses included. */
export function meanBytesPerSecond(answer: Answer): number {
  return ((answer.phases.at(-1)?.to_bytes ?? 0) / (answer.end_ns - answer.start_ns)) * 1e9;
}

/** Bytes that went into the cache after the pause that comes when 35 % of the drive are written; see jobs.ts. */
export function intoCacheAfterPause(answer: Answer): number {
  const { curve, drive } = answer;
  let [before, cached] = [0, 0];
  curve.write_bytes.forEach((bytes, bin) => {
    if (before >= 0.35 * drive.capacity_bytes - 1) cached += curve.to_slc_bytes[bin]!;
    before += bytes;
  });
  return cached * answer.denominator;
}

/** Bytes programmed for each byte of the random writes that come when the drive is full; see jobs.ts. */
export function randomWriteAmplification(answer: Answer): number {
  const { curve, drive } = answer;
  let [before, written, programmed] = [0, 0, 0];
  curve.write_bytes.forEach((bytes, bin) => {
    if (before >= drive.capacity_bytes - 1) {
      written += bytes;
      programmed += curve.to_slc_bytes[bin]! + curve.to_native_bytes[bin]! + curve.folded_bytes[bin]! + curve.collected_bytes[bin]!;
    }
    before += bytes;
  });
  return programmed / written;
}

/** Seconds in which heat held the drive back. */
export function throttledSeconds(answer: Answer): number {
  const { end_ns, throttle_level } = answer.curve;
  return throttle_level.reduce((sum, level, bin) => sum + (level > 0 ? end_ns[bin]! - (end_ns[bin - 1] ?? answer.start_ns) : 0), 0) / 1e9;
}

/** Falls into a phase whose time goes to being held back, by the drive's own account. */
export const fallsOfHeat = (answer: Answer): [Phase, Phase][] => falls(answer).filter(([, after]) => after.cause === "thermal");

/** Read speeds before and after the pause of the job. */
export function readSpeeds(answer: Answer): [number, number] {
  const { end_ns, read_bytes } = answer.over_time;
  const reading = end_ns.map((_, bin) => bin).filter((bin) => read_bytes[bin]! > 0);
  let gap = reading.findIndex((bin, place) => place > 0 && bin - reading[place - 1]! > 3);
  if (gap < 0) gap = reading.length;
  const sums: [number, number][] = [[0, 0], [0, 0]];
  reading.forEach((bin, place) => {
    const sum = sums[place < gap ? 0 : 1]!;
    sum[0] += read_bytes[bin]!;
    sum[1] += end_ns[bin]! - (end_ns[bin - 1] ?? answer.start_ns);
  });
  const rate = ([bytes, ns]: [number, number]) => (ns > 0 ? (bytes / ns) * 1e9 : 0);
  return [rate(sums[0]!), rate(sums[1]!)];
}

/** `4 min`, of seconds. */
export const span = (seconds: number): string => time(seconds * 1e9);
