// Every drive of the library, from python/pslc/lab/page_data.py, and drives of the reader's own.
import generated from "./generated/data.json";
import type { DriveData, PartsData, Question } from "./types";
import { jobOf } from "./jobs";

const { drives, parts, causes } = generated as unknown as { drives: DriveData[]; parts: PartsData; causes: Record<string, string> };
export const DRIVES = drives;
export const PARTS = parts;
/** Words of causes, from the table of all pictures. */
export const WORDS = causes;
const texts = (kind: string, some: PartsData["nands"]) => Object.entries(some).map(([name, { part }]) => [`${kind}/${name}`, JSON.stringify(part)]);
const PART_TEXTS: Record<string, string> = Object.fromEntries([...texts("nand", PARTS.nands), ...texts("controller", PARTS.controllers)]);
const PROFILES = Object.fromEntries(DRIVES.map((drive) => [drive.slug, drive.profile]));

export function driveOf(slug: string): DriveData {
  return DRIVES.find((drive) => drive.slug === slug) ?? DRIVES[0]!;
}

const NO_FILL = { phases: [], cache_bytes: null, cached_bytes_per_s: null, past_bytes_per_s: null, mean_bytes_per_s: 0, link: "", link_bytes_per_s: 0, map: "", idle_s: null, predicted: "", band: [] };

/** A drive of a profile that the reader brought along. It has no knobs: they are lines of its file. */
export function ownDrive(profile: string): DriveData {
  const name = /^name = "(.*)"/m.exec(profile)?.[1] ?? "Your drive";
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const [pages_per_block, bits_per_cell] = [numberOf(profile, "pages_per_block"), numberOf(profile, "bits_per_cell")];
  return { slug, name, capacity_bytes: 0, profile, pages_per_block, bits_per_cell, year: null, source: "", figures: [], knobs: [], fill: NO_FILL, recovery: { rest_s: null, tried_s: null, is_shown: false } };
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
  const { pages_per_block: pages, bits_per_cell: bits } = drive;
  return DENOMINATORS.filter((denominator) => pages > 0 && pages % (bits * denominator) === 0);
}

/** A number of a profile, or of the profile that it builds on. */
function numberOf(profile: string, key: "pages_per_block" | "bits_per_cell"): number {
  const own = new RegExp(`^${key} = "?([0-9]+)`, "m").exec(profile)?.[1];
  if (own !== undefined) return Number.parseInt(own, 10);
  const die = PARTS.nands[/^nand\.part = "(.*)"/m.exec(profile)?.[1] ?? ""]?.part[key];
  if (typeof die === "number") return die;
  const base = DRIVES.find((drive) => drive.slug === /^base = "(.*)"/m.exec(profile)?.[1]);
  return base?.[key] ?? 0;
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

/** The command that answers as the page does. A drive of the reader's own is downloaded first. */
export function commandOf(drive: DriveData, knobs: Record<string, string>, job: string): string {
  const keys = overridesOf(drive, knobs).map(([key, value]) => `,${key}=${value}`).join("");
  const on = `--on 'sim:${DRIVES.includes(drive) ? drive.slug : `./${drive.slug}-changed.toml`}${keys}'`;
  return job === "fill" ? `pslc run fill ${on}` : `pslc run - ${on} <<'EOF'\n${jobOf(job).text(1)}EOF`;
}

/** Of some texts those that a profile names, and those that these name. */
function namedIn(profile: string, texts: Record<string, string>): Record<string, string> {
  const direct = Object.entries(texts).filter(([name, text]) => text !== profile && profile.includes(`"${name.replace(/^.*\//, "")}"`));
  return Object.fromEntries(direct.flatMap(([name, text]) => [[name, text], ...Object.entries(namedIn(text, texts))]));
}

export function questionOf(drive: DriveData, knobs: Record<string, string>, job: string, denominator: number): Question {
  const library = namedIn(drive.profile, PROFILES);
  return {
    profile: drive.profile,
    name: `${drive.slug}.toml`,
    library,
    parts: namedIn([drive.profile, ...Object.values(library)].join("\n"), PART_TEXTS),
    overrides: overridesOf(drive, knobs),
    job: jobOf(job).text(denominator),
    denominator,
  };
}
