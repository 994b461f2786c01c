// Everything that the page shows is in its address, so that a link is a what-if.

export interface State {
  view: "story" | "lab" | "gallery";
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

export function read(hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const view = given.get("view");
  const number = (name: string) => Math.max(0, Number.parseInt(given.get(name) ?? "1", 10) - 1 || 0);
  const knobs: Record<string, string> = {};
  for (const [key, value] of given) if (key.includes(".") || key === "link") knobs[key] = value;
  return {
    view: view === "lab" || view === "gallery" ? view : "story",
    drive: given.get("drive") ?? START.drive,
    profile: given.get("profile"),
    knobs,
    job: given.get("job") ?? START.job,
    story: number("story"),
    step: number("step"),
    compare: (given.get("compare") ?? "").split(",").filter(Boolean).slice(0, 6),
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
