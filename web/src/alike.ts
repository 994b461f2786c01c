// Drives of the library that are built like one: as many bits a cell, the same link, and a cache or none.
import { DRIVES } from "./data";
import type { Answer, DriveData } from "./types";
import { speed } from "./units";

const MAX_LINK_RATIO = 1.05;
/** From so many on, a tenth of them is left out at either end of a range. */
const MIN_FOR_TENTHS = 10;
const POSITIONS = 120;

const NO_CACHE = "pure-xlc";
const has = (drive: DriveData): boolean => drive.knobs.find((knob) => knob.key === "cache.mode")?.value !== NO_CACHE;

export interface Band {
  name: string;
  /** Bytes of the drive that is shown, and bytes a second: the middle of the drives alike, and what most of them lie between. */
  x: number[];
  y: number[];
  low: number[];
  high: number[];
}

/** The others; a drive of the library is not beside itself. */
export function alike({ drive }: Answer): DriveData[] {
  const hasCache = drive.cache_mode !== NO_CACHE;
  const ratio = (link: number) => Math.max(link / drive.link_write_bytes_per_s, drive.link_write_bytes_per_s / link);
  return DRIVES.filter((each) => each.name !== drive.name && each.bits_per_cell === drive.bits_per_cell
    && has(each) === hasCache && ratio(each.fill.link_bytes_per_s) < MAX_LINK_RATIO);
}

function range(values: number[]): [number, number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const cut = sorted.length < MIN_FOR_TENTHS ? 0 : Math.floor(sorted.length / 10);
  return [sorted[cut]!, sorted[Math.floor(sorted.length / 2)]!, sorted[sorted.length - 1 - cut]!];
}

const share = (drives: DriveData[]): string => (drives.length < MIN_FOR_TENTHS ? "all" : "8 of 10");

/** Their write curves, over the same share of each drive; null of fewer than two. */
export function bandOf(answer: Answer): Band | null {
  const drives = alike(answer);
  if (drives.length < 2) return null;
  const end = (answer.phases.at(-1)?.to_bytes ?? 0) * answer.denominator;
  const shares = Array.from({ length: POSITIONS }, (_, at) => (at + 0.5) / POSITIONS);
  const speeds = (at: number) => drives.map(({ fill: { phases } }) => phases.find(([to]) => at * phases.at(-1)![0] <= to)![1]);
  const ranges = shares.map((at) => range(speeds(at)));
  const column = (place: number) => ranges.map((each) => each[place]!);
  return { name: `${drives.length} drives alike: the middle, and ${share(drives)}`, x: shares.map((at) => at * end), y: column(1), low: column(0), high: column(2) };
}

/** What drives of the same parts lie between, where no review decides the drive; else null. */
export function bandOfParts({ fill: { band }, capacity_bytes }: DriveData): Band | null {
  const steps = band.flatMap(([from, ...speeds], at) => [[from, ...speeds], [band[at + 1]?.[0] ?? capacity_bytes, ...speeds]]);
  const column = (place: number) => steps.map((step) => step[place]!);
  return band.length === 0 ? null : { name: "drives of such parts", x: column(0), y: column(1), low: column(2), high: column(3) };
}

/** How good a drive is beside those that are built like it. */
export function besideAlike(answer: Answer): string {
  const drives = alike(answer);
  if (drives.length < 2) return "";
  const mean = ((answer.phases.at(-1)?.to_bytes ?? 0) / (answer.end_ns - answer.start_ns)) * 1e9;
  const [low, , high] = range(drives.map(({ fill }) => fill.mean_bytes_per_s));
  const faster = drives.filter(({ fill }) => fill.mean_bytes_per_s > mean).length;
  const kind = `${answer.drive.bits_per_cell} bits a cell, this link, ${has(drives[0]!) ? "a cache" : "no cache"}`;
  return ` In the mean it writes ${speed(mean)}. Of ${drives.length} drives alike in the library (${kind}), ${faster === 0 ? "none is" : `${faster} ${faster === 1 ? "is" : "are"}`} faster; ` +
    `${share(drives)} of them have ${speed(low)} to ${speed(high)}.`;
}
