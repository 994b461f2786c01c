// Every drive of the library, from python/pslc/lab/page_data.py.
import generated from "./generated/data.json";
import type { DriveData, Question } from "./types";
import { jobOf } from "./jobs";

export const DRIVES = (generated as unknown as { drives: DriveData[] }).drives;

export function driveOf(slug: string): DriveData {
  return DRIVES.find((drive) => drive.slug === slug) ?? DRIVES[0]!;
}

/** What knobs set, in the order in which the drive names them. */
export function overridesOf(drive: DriveData, knobs: Record<string, string>): [string, string][] {
  return drive.knobs.flatMap((knob) => {
    const stop = knobs[knob.key];
    return stop === undefined || stop === knob.value ? [] : (knob.pairs[stop] ?? [[knob.key, stop]]);
  });
}

/** The largest of these fractions that leaves a block whole word lines, and a cache that is large beside the buffer. */
const DENOMINATORS = [16, 12, 8, 6, 4, 3, 2];

export function denominatorOf(drive: DriveData): number {
  const value = (key: string) => Number.parseInt(new RegExp(`^${key} = "?([0-9]+)`, "m").exec(drive.profile)?.[1] ?? "0", 10);
  const [pages, bits] = [value("pages_per_block"), value("bits_per_cell")];
  return DENOMINATORS.find((denominator) => pages > 0 && pages % (bits * denominator) === 0) ?? 1;
}

export function questionOf(drive: DriveData, knobs: Record<string, string>, job: string, denominator: number): Question {
  return {
    profile: drive.profile,
    name: `${drive.slug}.toml`,
    overrides: overridesOf(drive, knobs),
    job: jobOf(job).text(denominator),
    denominator,
  };
}
