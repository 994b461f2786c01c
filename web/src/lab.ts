// The lab: a drive, its knobs, and what they do.
import { DRIVES, commandOf, driveOf, overridesOf, ownDrive } from "./data";
import { copier, h } from "./dom";
import { findDrive } from "./find";
import { chartForm } from "./chart";
import { isCurve, measuredIn, open } from "./files";
import { JOBS } from "./jobs";
import { partsForm } from "./parts";
import { laid, lay, specOf, taskBox } from "./library";
import { RunView } from "./run";
import { SERVED, get, measuredOf, type Library, type View } from "./server";
import { write, type State } from "./state";
import type { DriveData, Knob, Measured } from "./types";

/** In the list of drives, the one that the reader brought along. */
const OWN = "own";

export function lab(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const run = new RunView(true);
  let drive = state.profile === null ? driveOf(state.drive) : ownDrive(state.profile);
  const panel = h("div", { class: "knobs" });

  run.lay(laid);
  const go = () => {
    changed(state);
    void run.show(drive, state.knobs, state.job, (_, isLast) => {
      if (isLast && state.job === "fill") void run.rest(drive, { ...state.knobs });
    });
  };
  const turn = (knob: Knob, stop: string) => {
    run.keepBefore(true);
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
    run.keepBefore(false);
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
  const overlay = (measured: Measured) => {
    lay(measured);
    run.lay(laid);
    go();
  };
  let chart: HTMLElement | null = null;
  const opened = async (file: File | undefined) => {
    if (file === undefined) return;
    await attempt(async () => {
      if (file.type.startsWith("image/")) {
        chart?.remove();
        run.element.prepend((chart = await chartForm(file, attempt, overlay)));
        return;
      }
      const content = await open(file);
      if ("profile" in content) bring(content.profile);
      else overlay(content.measured);
    });
  };
  const jobs = choice("Do", JOBS.map((job) => [job.key, job.label]), state.job, (key) => {
    state.job = key;
    run.keepBefore(false);
    go();
  });
  const reset = h("button", { type: "button", onclick: () => { state.knobs = {}; run.keepBefore(false); fillPanel(); go(); } }, "As sold");
  const save = h("button", { type: "button", onclick: () => download(drive, state.knobs) }, "Download as TOML");
  const file = h("label", { class: "file" }, "Open or drop a profile (.toml), or a curve to compare with: pslc's (.csv), fio's log of bandwidth, a picture of a chart", h("input", {
    type: "file", accept: ".toml,.csv,.log,image/*",
    onchange: (event) => {
      const input = event.target as HTMLInputElement;
      // The same file, changed meanwhile, can be opened again.
      void opened(input.files?.[0]).then(() => { input.value = ""; });
    },
  }));
  const yours = h("textarea", {
    rows: 1, placeholder: "WD_BLACK SN850X 2000GB",
    onpaste: (event) => void opened([...((event as ClipboardEvent).clipboardData?.files ?? [])][0]),
    oninput: () => void attempt(async () => {
      const text = yours.value.trim();
      if (isCurve(text)) return overlay(measuredIn("pasted", text));
      const match = findDrive(text);
      if (text.length > 3 && match === null) throw new Error("No drive of the library is named in that text. Make yours of parts, below.");
      if (match === null) return;
      select.value = match.drive.slug;
      if (match.drive.slug !== state.drive || state.profile !== null) become(match.drive, null);
      if (!match.isOfSize) throw new Error(`This is the ${match.drive.name}. Of another capacity it has another cache.`);
    }),
  });
  const savers = ([["png", "Save as PNG"], ["card", "Save as card"]] as const).map(([kind, label]) => h("button", { type: "button", onclick: () => void attempt(async () => {
    h("a", { href: await run.picture(kind), download: `${drive.slug}${kind === "card" ? "-card" : ""}.png` }).click();
  }) }, label));
  const address = () => new URL(write(state), location.href).href;
  const copies: [string, () => string][] = [
    ["Copy as command", () => commandOf(drive, state.knobs, state.job)],
    ["Copy link", address],
    ["Copy to embed", () => `<iframe src="${address().replaceAll("&", "&amp;")}" width="960" height="720" title="${drive.name}, simulated by pslc"></iframe>`],
  ];
  const copiers = copies.map(([label, text]) => copier(label, text));
  fillPanel();
  go();
  const served = SERVED ? [commands(state, run, attempt, (profile) => bring(profile))] : [];
  const element = h(
    "div", {
      class: "lab",
      ondragover: (event) => event.preventDefault(),
      ondrop: (event) => { event.preventDefault(); void opened((event as DragEvent).dataTransfer?.files[0]); },
    },
    h("form", { class: "side", "aria-label": "The drive", onsubmit: (event) => event.preventDefault() }, h("label", {}, "Your drive: its name, what CrystalDiskInfo copies, a log of fio or the picture of a chart", yours), drives, jobs, panel, partsForm(attempt, bring), file, refusal, h("p", { class: "buttons" }, reset, save, ...copiers, ...savers), ...served),
    run.element,
  );
  return { element, destroy: () => run.destroy() };
}

/** What needs `pslc lab` behind the page: suites, and the profiles and drive files of its folder. */
function commands(state: State, run: RunView, attempt: (work: () => Promise<void>) => Promise<void>, bring: (profile: string) => void): HTMLElement {
  const box = taskBox((task) => void attempt(async () => {
    const view = await get<View>("api/recording", { name: task.recording });
    lay(measuredOf(view));
    run.lay(laid);
    box.element.replaceChildren(h("p", {}, `${view.sentences.slice(0, 2).join(" ")} `, h("a", { href: `report?${new URLSearchParams({ name: view.name })}`, target: "_blank" }, "Report")));
  }));
  const place = h("div", {});
  void attempt(async () => {
    const library = await get<Library>("api/library");
    const question = h("small", {});
    const suite = h("select", { onchange: () => { question.textContent = library.suites[suite.value] ?? ""; } });
    suite.append(...Object.keys(library.suites).map((name) => h("option", { value: name, selected: name === "fill" }, name)));
    question.textContent = library.suites[suite.value] ?? "";
    const own = [...Object.entries(library.profiles), ...library.drive_files.map((file) => [file, ""] as const)];
    const files = own.map(([name, profile]) => h("button", { type: "button", onclick: () =>
      profile ? bring(profile) : box.begin("api/run", { suite: suite.value, drive: { file: name } }) }, profile ? name : `Run on a copy of ${name}`));
    place.replaceChildren(
      h("label", {}, "Suite", suite, question),
      h("button", { type: "button", class: "run-suite", onclick: () => box.begin("api/run", { suite: suite.value, drive: specOf(state) }) }, "Run it, and keep it in runs/"),
      ...(own.length > 0 ? [h("p", {}, "In this folder:"), h("p", { class: "buttons" }, ...files)] : []),
    );
  });
  return h("details", { class: "commands", open: true }, h("summary", {}, "With pslc"), place, box.element);
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
