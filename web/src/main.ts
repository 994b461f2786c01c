import "./style.css";
import { h } from "./dom";
import { gallery } from "./gallery";
import { lab } from "./lab";
import { library } from "./library";
import { SERVED } from "./server";
import { read, write, type State } from "./state";
import { storyView } from "./storyview";

const VIEWS: [State["view"], string][] = [["story", "Stories"], ["lab", "Lab"], ["gallery", "Drives"]];
if (SERVED) VIEWS.push(["library", "Your data"]);
const main = document.querySelector("main")!;
const nav = document.querySelector("header nav")!;
let { state, faults } = read(location.hash);
let shown: { element: HTMLElement; destroy(): void } | null = null;
let key = "";

/** Another view, story or address draws anew; a knob that is turned only changes the address. */
function keyOf(of: State): string {
  return of.view === "story" ? `story ${of.story}` : of.view;
}

function changed(next: State): void {
  state = next;
  const address = write(state);
  if (keyOf(state) === key) history.replaceState(null, "", address);
  else location.hash = address;
}

function show(): void {
  key = keyOf(state);
  shown?.destroy();
  const views = { story: storyView, lab, gallery, library };
  shown = views[state.view](state, changed);
  main.replaceChildren(...faults.map((fault) => h("p", { class: "refusal", role: "alert" }, fault)), shown.element);
  nav.replaceChildren(...VIEWS.map(([view, name]) => h("a", { href: write({ ...state, view }), "aria-current": view === state.view ? "page" : undefined }, name)));
}

if (SERVED) document.querySelector("footer p")!.textContent = "Everything stays on this machine: your browser simulates, and pslc lab does the rest.";
window.addEventListener("hashchange", () => {
  ({ state, faults } = read(location.hash));
  show();
});
show();
