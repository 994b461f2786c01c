// Beside `pslc lab`: files that a reader uploads, recordings in runs/, fits and runs, and the drives of this machine.
import { drawn } from "./drawing";
import { driveOf, overridesOf } from "./data";
import { h } from "./dom";
import { get, measuredOf, post, upload, type Device, type DriveSpec, type Entry, type Library, type Task, type View } from "./server";
import type { State } from "./state";
import type { Measured } from "./types";
import { size, speed } from "./units";

const POLL_MS = 500;
/** What the picture of a chart needs before it is read. */
const CHART_FIELDS: [string, string, string][] = [
  ["x", "x axis", "0:2000GB"], ["y", "y axis", "0:7000MB/s"], ["series", "Color of the curve", "blue"], ["frame", "Corners of the plot", "90,40,900,500"],
];
type Column = "began" | "suite" | "drive" | "target" | "cache_bytes" | "mean_bytes_per_s";
const COLUMNS: [Column, string][] = [
  ["began", "Began"], ["suite", "Suite"], ["drive", "Drive"], ["target", "Target"], ["cache_bytes", "Cache"], ["mean_bytes_per_s", "Mean"],
];

/** The curve that lies over the lab's; it stays while the page is open. */
export let laid: Measured | null = null;
export function lay(measured: Measured | null): void {
  laid = measured;
}

/** The drive of the lab, as a command takes it. */
export function specOf(state: State): DriveSpec {
  const keys = state.profile === null ? overridesOf(driveOf(state.drive), state.knobs) : [];
  return state.profile === null ? { name: state.drive, keys } : { profile: state.profile, keys };
}

/** A box that follows a command until it ends; `done` is called where it ended well. */
export function taskBox(done: (task: Task) => void): { element: HTMLElement; begin(path: string, request: unknown): void } {
  const element = h("div", { class: "task", "aria-live": "polite" });
  const follow = async (first: Task) => {
    let task = first;
    const status = h("output", {}, task.status);
    let stopped = false;
    const stop = h("button", { type: "button", onclick: () => { stopped = true; void post("api/stop", { task: first.id }); element.replaceChildren(); } }, "Stop");
    element.replaceChildren(h("code", {}, task.command), h("progress", { "aria-label": "The command is running" }), status, stop);
    while (task.code === null && !stopped) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (stopped) return;
      task = await get<Task>("api/task", { name: String(first.id) });
      status.textContent = task.status;
    }
    element.replaceChildren(...(task.code === 0 ? [] : task.errors.map((line) => h("p", { class: "problem" }, line))));
    if (task.code === 0) done(task);
  };
  const begin = (path: string, request: unknown) => void post<Task>(path, request).then(follow).catch((error: Error) => {
    element.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message));
  });
  return { element, begin };
}

/** Contents of a recording or an upload. */
function contents(view: View): HTMLElement[] {
  const figures = view.figures.map((figure) => {
    const place = h("div", { class: "plot" });
    drawn(place, figure);
    return h("figure", {}, h("figcaption", {}, figure.title), place);
  });
  const picture = view.picture ? [h("img", { src: view.picture, alt: "The chart, with the curves that were read drawn over it", class: "picture" })] : [];
  const tables = view.tables.map((table) => h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": table.title }, h(
    "table", {}, h("caption", {}, table.title),
    h("thead", {}, h("tr", {}, ...table.columns.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...table.rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
  )));
  return [
    h("h3", { tabindex: -1 }, view.title),
    ...view.sentences.map((sentence) => h("p", {}, sentence)),
    ...view.warnings.map((warning) => h("p", { class: "problem" }, `Warning: ${warning}`)),
    ...view.notes.map((note) => h("p", {}, h("small", {}, `Note: ${note}.`))),
    ...picture, ...figures, ...tables,
  ];
}

export function library(state: State, changed: (state: State) => void): { element: HTMLElement; destroy(): void } {
  const shown = h("section", { class: "contents", "aria-label": "Contents", "aria-live": "polite" });
  const refusal = h("p", { class: "refusal", role: "alert", hidden: true });
  const table = h("div", {});
  const drives = h("ul", {});
  let known: Library | null = null;
  let [order, falling]: [Column, boolean] = ["began", true];
  const chosen = new Set<string>();
  const filter = h("input", { type: "search", "aria-label": "Find a recording", placeholder: "Find a recording", oninput: () => list() });

  const attempt = async (work: () => Promise<void>) => {
    refusal.hidden = true;
    try {
      await work();
    } catch (error) {
      refusal.hidden = false;
      refusal.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const button = (words: string, act: () => Promise<void> | void, label = words) =>
    h("button", { type: "button", "aria-label": label, onclick: () => void attempt(async () => act()) }, words);

  const tasks = taskBox((task) => {
    // A twin goes under the lab's knobs, with what it was fitted to over its curve.
    if (task.profile) changed({ ...state, view: "lab", profile: task.profile, knobs: {}, job: "fill" });
    else void attempt(async () => { await refresh(); await open(task.recording); });
  });
  const show = (view: View) => {
    const capacity = h("input", { type: "text", size: 8, placeholder: "1TB", "aria-label": "Capacity of the drive" });
    const from = view.kind === "recording" && known?.recordings.some((entry) => entry.name === view.name) ? { recording: view.name } : { upload: view.name };
    const actions: HTMLElement[] = [];
    if (view.curve !== null) {
      actions.push(button("Lay over the lab's curve", () => { lay(measuredOf(view)); changed({ ...state, view: "lab", job: "fill" }); }));
      if (view.kind !== "recording") actions.push(capacity);
      actions.push(button("Fit a twin", () => { lay(measuredOf(view)); tasks.begin("api/fit", { ...from, capacity: capacity.value.trim() }); }));
    }
    if (view.kind === "trace") actions.push(button("Replay it on the lab's drive", () => tasks.begin("api/run", { upload: view.name, drive: specOf(state) })));
    if (view.kind === "drive") actions.push(button("Fill a copy of it", () => tasks.begin("api/run", { suite: "fill", drive: { upload: view.name } })));
    shown.replaceChildren(...(view.kind === "chart" ? [chartForm(view)] : []), h("p", { class: "buttons" }, ...actions), ...contents(view));
    shown.querySelector("h3")?.focus();
  };
  const chartForm = (view: View) => {
    const inputs = CHART_FIELDS.map(([key, label, example]) => [key, h("input", { type: "text", placeholder: example, "aria-label": label })] as const);
    const read = button("Read the chart", async () => show(await post<View>("api/chart", {
      name: view.name, ...Object.fromEntries(inputs.map(([key, input]) => [key, input.value.trim()])),
    })));
    return h("div", { class: "chart" }, h("p", {}, "Give the values at the first and the last label of each axis; of several curves also the color."), ...inputs.map(([, input]) => input), read);
  };
  const open = async (name: string) => show(await get<View>("api/recording", { name }));
  const given = (files: File[]) => attempt(async () => {
    const [bytes, most] = [files.reduce((sum, file) => sum + file.size, 0), known?.max_upload_bytes ?? Infinity];
    if (files.length === 0) return;
    if (bytes > most) throw new Error(`The files have ${size(bytes)}, but the page reads at most ${size(most)}. pslc analyze reads larger files.`);
    if (files.length === 1 && /\.toml$/i.test(files[0]!.name)) return changed({ ...state, view: "lab", profile: await files[0]!.text(), knobs: {} });
    show(await upload(files));
  });
  const remove = async (name: string) => {
    if (!confirm(`Delete ${name} with its report? This cannot be undone.`)) return;
    await post("api/delete", { name });
    chosen.delete(name);
    await refresh();
  };

  const row = (entry: Entry) => {
    const pick = h("input", { type: "checkbox", "aria-label": `Compare ${entry.name}`, checked: chosen.has(entry.name), onchange: () => {
      if (!chosen.delete(entry.name)) chosen.add(entry.name);
      list();
    } });
    const cells = [entry.began, entry.suite, entry.drive, entry.target, entry.cache_bytes === null ? "" : size(entry.cache_bytes), entry.mean_bytes_per_s === null ? "" : speed(entry.mean_bytes_per_s)];
    return h(
      "tr", {}, h("td", {}, pick), ...cells.map((cell) => h("td", {}, cell)),
      h("td", { class: "buttons" }, button("Show", () => open(entry.name), `Show ${entry.name}`),
        h("a", { href: `report?${new URLSearchParams({ name: entry.name })}`, target: "_blank", "aria-label": `Report of ${entry.name}` }, "Report"),
        button("Delete", () => remove(entry.name), `Delete ${entry.name}`)),
    );
  };
  const list = () => {
    if (known === null) return;
    const words = filter.value.toLowerCase().split(/\s+/);
    const found = known.recordings.filter((entry) => words.every((word) => Object.values(entry).join(" ").toLowerCase().includes(word)));
    // What has no value comes last, whichever way.
    found.sort((a, b) => {
      const [left, right] = [a[order], b[order]];
      if (!left || !right) return Number(!left) - Number(!right);
      return (left < right ? -1 : left > right ? 1 : 0) * (falling ? -1 : 1);
    });
    const heads = COLUMNS.map(([key, name]) => h("th", { scope: "col", "aria-sort": key === order ? (falling ? "descending" : "ascending") : undefined },
      button(name, () => { [order, falling] = [key, key === order ? !falling : true]; list(); })));
    const compare = `compare?${new URLSearchParams([...chosen].map((name) => ["name", name]))}`;
    table.replaceChildren(
      h("p", { hidden: chosen.size < 2 }, h("a", { href: compare, target: "_blank" }, `Compare ${chosen.size} recordings`)),
      ...(known.unreadable.length > 0 ? [h("p", { class: "problem" }, `Not readable: ${known.unreadable.slice(0, 5).join(", ")}. pslc analyze runs/NAME says why.`)] : []),
      h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Recordings" }, h(
        "table", {}, h("caption", {}, `${found.length} recordings`), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Compare"), ...heads, h("th", { scope: "col" }, "Do"))),
        h("tbody", {}, ...found.map(row)),
      )),
    );
  };
  const refresh = async () => {
    known = await get<Library>("api/library");
    list();
  };
  void attempt(refresh);
  void attempt(async () => drives.replaceChildren(...(await get<Device[]>("api/devices")).map((device) => h(
    "li", {}, `${device.path}: ${device.model ?? "unknown model"}, ${device.bytes === null ? "" : size(device.bytes)}${device.users.length > 0 ? `; ${device.users.join("; ")}` : ""}. `,
    h("code", {}, `pslc probe ${device.path}`),
  ))));
  const element = h(
    "div", { class: "library", ondragover: (event) => event.preventDefault(), ondrop: (event) => {
      event.preventDefault();
      void given([...((event as DragEvent).dataTransfer?.files ?? [])]);
    } },
    h("h2", { tabindex: -1 }, "Your data"),
    h("label", { class: "file" }, "Open or drop files: logs of fio and other programs, charts, traces, run.json with series.parquet, profiles, drive files. They stay on this machine.",
      h("input", { type: "file", multiple: true, onchange: (event) => {
        const input = event.target as HTMLInputElement;
        void given([...(input.files ?? [])]).then(() => { input.value = ""; });
      } })),
    refusal, tasks.element, shown,
    h("h2", {}, "Recordings in runs/"), h("p", { class: "filters" }, filter), table,
    h("h2", {}, "Drives of this machine"), h("p", {}, "A page writes to none of them. To measure one, use a scratch file on it: ", h("code", {}, "pslc run fill --on /mnt/drive/scratch.bin --size 50GB")), drives,
  );
  return { element, destroy: () => undefined };
}
