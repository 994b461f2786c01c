// A drive made of parts on the page: a die, a controller, a capacity and a cache become a profile, as `pslc drives new` makes it.
import { PARTS } from "./data";
import { h } from "./dom";
import { compiled } from "./simulator";
import type { Failure, PartsData } from "./types";
import { call, start, type Module } from "./wasm";

const CACHES: [string, string][] = [
  ["", "as its firmware usually has it"],
  ["pure-xlc", "no cache"],
  ["static", "static, of the size below"],
  ["dynamic", "dynamic, of the size below"],
];

let started: Promise<Module> | null = null;

/** The profile of a drive of these parts. It throws what is wrong, in words. */
async function profileOf(nand: string, controller: string, given: Record<string, string>): Promise<string> {
  started ??= compiled.then((module) => start(module, () => {}, () => {}));
  const question = { nand: PARTS.nands[nand]!.part, controller: PARTS.controllers[controller]!.part, given: Object.entries(given) };
  const answer = call(await started, "derive", question).json as { profile: string } | Failure;
  if ("message" in answer) throw new Error(`${answer.message}: ${answer.hint}`);
  // The module derives the rest again, so an address stays short.
  const rows: [string, string][] = [["nand.part", nand], ["controller.part", controller], ...Object.entries(given)];
  return rows.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join("");
}

/** A form that calls `made` with a profile; `attempt` shows what was refused. */
export function partsForm(attempt: (work: () => Promise<void>) => Promise<void>, made: (profile: string) => void): HTMLElement {
  const select = (options: [string, string][], chosen: string) => {
    const element = h("select", {});
    element.append(...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    return element;
  };
  const names = (parts: PartsData["nands"]): [string, string][] => Object.entries(parts).map(([name, part]) => [name, part.label]);
  const nand = select(names(PARTS.nands), PARTS.start.nand);
  const controller = select(names(PARTS.controllers), PARTS.start.controller);
  const capacity = h("input", { type: "text", value: PARTS.start.capacity, size: 8, "aria-describedby": "capacity-hint" });
  const cache = select(CACHES, "");
  const size = h("input", { type: "text", value: "100GB", size: 8, disabled: true });
  cache.addEventListener("change", () => { size.disabled = cache.value !== "static" && cache.value !== "dynamic"; });
  const make = async () => {
    const given: Record<string, string> = { capacity: capacity.value.trim() };
    if (cache.value === "pure-xlc") given["cache.mode"] = cache.value;
    else if (cache.value !== "") given[`cache.${cache.value}`] = size.value.trim();
    made(await profileOf(nand.value, controller.value, given));
  };
  return h(
    "details", { class: "parts" }, h("summary", {}, "A drive of parts"),
    h("label", {}, "NAND die", nand), h("label", {}, "Controller", controller), h("label", {}, "Capacity", capacity),
    h("label", {}, "Cache", cache), h("label", {}, "Size of the cache", size),
    h("p", {}, h("small", { id: "capacity-hint" }, "Sizes with a unit: 1TB, 500GB. What the parts do not tell is assumed, and pslc drives show ./FILE.toml says so.")),
    h("button", { type: "button", class: "make", onclick: () => void attempt(make) }, "Make it"),
  );
}
