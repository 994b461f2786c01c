// Every drive of the library, from python/pslc/lab/page_data.py, and drives of the reader's own.
import generated from "./generated/data.json";
import type { DriveData, Question } from "./types";
import { jobOf } from "./jobs";

export const DRIVES = (generated as unknown as { drives: DriveData[] }).drives;
const PROFILES = Object.fromEntries(DRIVES.map((drive) => [drive.slug, drive.profile]));

export function driveOf(slug: string): DriveData {
  return DRIVES.find((drive) => drive.slug === slug) ?? DRIVES[0]!;
}

/** A drive of a profile that the reader brought along. It has no knobs: they are lines of its file. */
export function ownDrive(profile: string): DriveData {
  const name = /^name = "(.*)"/m.exec(profile)?.[1] ?? "Your drive";
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return { slug, name, capacity_bytes: 0, profile, source: "", figures: [], provenance: {}, knobs: [] };
}

/** What knobs set, in the order in which the drive names them. */
export function overridesOf(drive: DriveData, knobs: Record<string, string>): [string, string][] {
  return drive.knobs.flatMap((knob) => {
    const stop = knobs[knob.key];
    return stop === undefined || stop === knob.value ? [] : (knob.pairs[stop] ?? [[knob.key, stop]]);
  });
}

/** Fractions that leave a block whole word lines, and a cache that is large beside the buffer. */
const DENOMINATORS = [32, 24, 16, 12, 8, 6, 4, 3, 2];
/** What a copy of one sixteenth is good for: a coarser one loses phases, and is for slow computers only. */
const USUAL_DENOMINATOR = 16;
/** Of drives from 1.9 TB on a copy of 1/32 has the speeds and ends of the whole drive to 1 %, at half the time and memory. */
const LARGE_DENOMINATOR = 32;
const LARGE_BYTES = 1.9e12;

function denominatorsOf(drive: DriveData): number[] {
  const [pages, bits] = [numberOf(drive.profile, "pages_per_block"), numberOf(drive.profile, "bits_per_cell")];
  return DENOMINATORS.filter((denominator) => pages > 0 && pages % (bits * denominator) === 0);
}

/** A number of a profile, or of the profile that it builds on. */
function numberOf(profile: string, key: string): number {
  const own = new RegExp(`^${key} = "?([0-9]+)`, "m").exec(profile)?.[1];
  if (own !== undefined) return Number.parseInt(own, 10);
  const base = /^base = "(.*)"/m.exec(profile)?.[1];
  return base !== undefined && base in PROFILES ? numberOf(PROFILES[base]!, key) : 0;
}

/** How small the copy of a drive is that answers first. */
export function denominatorOf(drive: DriveData): number {
  const largest = drive.capacity_bytes >= LARGE_BYTES ? LARGE_DENOMINATOR : USUAL_DENOMINATOR;
  return denominatorsOf(drive).find((denominator) => denominator <= largest) ?? 1;
}

/** The same for an answer within `budget` milliseconds, where a copy of `denominator` took `spent`. */
export function quickerDenominatorOf(drive: DriveData, denominator: number, spent: number, budget: number): number {
  const quick = denominatorsOf(drive).filter((each) => (spent * denominator) / each <= budget);
  return Math.max(denominatorOf(drive), quick.at(-1) ?? denominatorsOf(drive)[0] ?? 1);
}

export function questionOf(drive: DriveData, knobs: Record<string, string>, job: string, denominator: number): Question {
  return {
    profile: drive.profile,
    name: `${drive.slug}.toml`,
    library: /^base = /m.test(drive.profile) ? PROFILES : {},
    overrides: overridesOf(drive, knobs),
    job: jobOf(job).text(denominator),
    denominator,
  };
}
