// Everything that the page shows is in its address, so that a link is a what-if. What it does not know it says.
import { DRIVES } from "./data";
import { JOBS } from "./jobs";
import { SERVED } from "./server";
import { STORIES } from "./stories";

const VIEWS = ["story", "lab", "gallery", "library"] as const;

export interface State {
  view: (typeof VIEWS)[number];
  drive: string;
  /** TOML of a drive of the reader's own, instead of `drive`. */
  profile: string | null;
  /** Knobs that were turned: key and stop. */
  knobs: Record<string, string>;
  job: string;
  story: number;
  step: number;
  /** Drives that are compared in the gallery. */
  compare: string[];
}

export const START: State = { view: "story", drive: "aldrin-pro-2tb", profile: null, knobs: {}, job: "fill", story: 0, step: 0, compare: [] };
const MAX_COMPARED = 6;

/** The state that an address holds, and a sentence for each part of it that the page does not know. */
export function read(hash: string): { state: State; faults: string[] } {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const faults: string[] = [];
  const one = (name: string, choices: readonly string[], start: string): string => {
    const word = given.get(name) ?? start;
    if (choices.includes(word)) return word;
    faults.push(`The address has the ${name} “${word.slice(0, 60)}”, which this page does not know; it shows ${start}.`);
    return start;
  };
  const number = (name: string, most: number): number => {
    const text = given.get(name) ?? "1";
    if (/^[0-9]+$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text) - 1;
    faults.push(`The address has ${name} “${text.slice(0, 60)}”; there are ${most}.`);
    return 0;
  };
  const slugs = DRIVES.map((drive) => drive.slug);
  const view = one("view", SERVED ? VIEWS : VIEWS.slice(0, 3), START.view) as State["view"];
  const profile = given.get("profile");
  const drive = profile === null ? one("drive", slugs, START.drive) : START.drive;
  const job = one("job", JOBS.map((each) => each.key), START.job);
  const story = number("story", STORIES.length);
  const step = number("step", STORIES[story]!.steps.length);
  const compare = (given.get("compare") ?? "").split(",").filter(Boolean);
  const known = new Set(DRIVES.find((each) => each.slug === drive)!.knobs.map((knob) => knob.key));
  const knobs: Record<string, string> = {};
  for (const [key, value] of given) {
    if (["view", "drive", "profile", "job", "story", "step", "compare"].includes(key)) continue;
    if (known.has(key) && profile === null) knobs[key] = value;
    else faults.push(`The address has the key “${key.slice(0, 60)}”, which is no knob of this drive.`);
  }
  for (const slug of compare) if (!slugs.includes(slug)) faults.push(`No drive is named “${slug.slice(0, 60)}”.`);
  return {
    state: { view, drive, profile, knobs, job, story, step, compare: compare.filter((slug) => slugs.includes(slug)).slice(0, MAX_COMPARED) },
    faults,
  };
}

export function write(state: State): string {
  const words: [string, string][] = [["view", state.view]];
  if (state.view === "story") words.push(["story", String(state.story + 1)], ["step", String(state.step + 1)]);
  if (state.view === "lab") {
    words.push(state.profile === null ? ["drive", state.drive] : ["profile", state.profile]);
    words.push(["job", state.job], ...Object.entries(state.knobs));
  }
  if (state.view === "gallery" && state.compare.length > 0) words.push(["compare", state.compare.join(",")]);
  return `#${new URLSearchParams(words)}`;
}
