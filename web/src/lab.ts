// The lab: a drive, its knobs, and what they do.
import { DRIVES, driveOf, overridesOf, ownDrive } from "./data";
import { h } from "./dom";
import { open } from "./files";
import { JOBS } from "./jobs";
import { partsForm } from "./parts";
import { RunView } from "./run";
import type { State } from "./state";
import type { DriveData, Knob } from "./types";

/** In the list of drives, the one that the reader brought along. */
const OWN = "own";

export function lab(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const run = new RunView();
  let drive = state.profile === null ? driveOf(state.drive) : ownDrive(state.profile);
  const panel = h("div", { class: "knobs" });

  const go = () => {
    changed(state);
    void run.show(drive, state.knobs, state.job);
  };
  const turn = (knob: Knob, stop: string) => {
    if (stop === knob.value) delete state.knobs[knob.key];
    else state.knobs[knob.key] = stop;
    go();
  };
  const fillPanel = () => panel.replaceChildren(...groups(drive, state.knobs, turn));

  const choice = (label: string, options: [string, string][], value: string, chosen: (value: string) => void) => {
    const select = h("select", { onchange: (event) => chosen((event.target as HTMLSelectElement).value) });
    select.append(...options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
    return h("label", {}, label, select);
  };
  const become = (next: DriveData, profile: string | null) => {
    drive = next;
    Object.assign(state, { drive: next.slug, profile, knobs: {} });
    fillPanel();
    go();
  };
  let own = state.profile;
  const drives = choice("Drive", DRIVES.map((each) => [each.slug, each.name]), drive.slug, (slug) =>
    slug === OWN ? become(ownDrive(own!), own) : become(driveOf(slug), null));
  const select = drives.querySelector("select")!;
  const listOwn = () => {
    select.querySelector(`[value="${OWN}"]`)?.remove();
    select.prepend(h("option", { value: OWN, selected: true }, drive.name));
    select.value = OWN;
  };
  if (own !== null) listOwn();
  const bring = (profile: string) => {
    own = profile;
    become(ownDrive(profile), profile);
    listOwn();
  };
  const refusal = h("p", { class: "refusal", role: "alert", hidden: true });
  const attempt = async (work: () => Promise<void>) => {
    refusal.hidden = true;
    try {
      await work();
    } catch (error) {
      refusal.hidden = false;
      refusal.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const opened = async (file: File | undefined) => {
    if (file === undefined) return;
    await attempt(async () => {
      const content = await open(file);
      if ("profile" in content) bring(content.profile);
      else {
        run.lay(content.measured);
        go();
      }
    });
  };
  const jobs = choice("Do", JOBS.map((job) => [job.key, job.label]), state.job, (key) => {
    state.job = key;
    go();
  });
  const reset = h("button", { type: "button", onclick: () => { state.knobs = {}; fillPanel(); go(); } }, "As sold");
  const save = h("button", { type: "button", onclick: () => download(drive, state.knobs) }, "Download as TOML");
  const file = h("label", { class: "file" }, "Open or drop a profile (.toml), or a curve (.csv) to compare with", h("input", {
    type: "file", accept: ".toml,.csv",
    onchange: (event) => {
      const input = event.target as HTMLInputElement;
      // The same file, changed meanwhile, can be opened again.
      void opened(input.files?.[0]).then(() => { input.value = ""; });
    },
  }));
  fillPanel();
  go();
  const element = h(
    "div", {
      class: "lab",
      ondragover: (event) => event.preventDefault(),
      ondrop: (event) => { event.preventDefault(); void opened((event as DragEvent).dataTransfer?.files[0]); },
    },
    h("form", { class: "side", "aria-label": "The drive", onsubmit: (event) => event.preventDefault() }, drives, jobs, panel, partsForm(attempt, bring), file, refusal, h("p", { class: "buttons" }, reset, save)),
    run.element,
  );
  return { element, destroy: () => run.destroy() };
}

function groups(drive: DriveData, turned: Record<string, string>, turn: (knob: Knob, stop: string) => void): HTMLElement[] {
  const names = [...new Set(drive.knobs.map((knob) => knob.group))];
  return names.map((name, place) => {
    const members = drive.knobs.filter((knob) => knob.group === name);
    return h("details", { open: place === 0 }, h("summary", {}, name), ...members.map((knob) => control(knob, turned[knob.key] ?? knob.value, turn)));
  });
}

function control(knob: Knob, value: string, turn: (knob: Knob, stop: string) => void): HTMLElement {
  const stops = knob.stops.includes(value) ? knob.stops : [value, ...knob.stops];
  const label = h("span", {}, knob.label);
  const note = knob.idle ? [h("small", {}, `No effect as sold: ${knob.idle}.`)] : [];
  if (!knob.is_slider) {
    const select = h("select", { onchange: (event) => turn(knob, (event.target as HTMLSelectElement).value) });
    select.append(...stops.map((stop) => h("option", { value: stop, selected: stop === value }, stop)));
    return h("label", { title: knob.key }, label, select, ...note);
  }
  const output = h("output", {}, value || "not set");
  const slider = h("input", {
    type: "range", min: 0, max: stops.length - 1, value: Math.max(0, stops.indexOf(value)), "aria-valuetext": value,
    oninput: (event) => {
      const input = event.target as HTMLInputElement;
      const stop = stops[Number(input.value)]!;
      output.textContent = stop;
      input.setAttribute("aria-valuetext", stop);
      turn(knob, stop);
    },
  });
  return h("label", { title: knob.key }, label, output, slider, ...note);
}

/** The drive as a profile for `pslc run fill --on sim:./NAME.toml`. */
function download(drive: DriveData, turned: Record<string, string>): void {
  const lines = overridesOf(drive, turned).map(([key, value]) => `${key} = ${/^[0-9]+$/.test(value) ? value : JSON.stringify(value)}`);
  const text = !DRIVES.includes(drive) ? drive.profile : `# ${drive.name}, changed on pslc's page. Run it: pslc run fill --on sim:./${drive.slug}-changed.toml\nbase = "${drive.slug}"\n${lines.join("\n")}\n`;
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/toml" })), download: `${drive.slug}-changed.toml` });
  link.click();
  URL.revokeObjectURL(link.href);
}
