import "./style.css";
import { h } from "./dom";
import { gallery } from "./gallery";
import { lab } from "./lab";
import { read, write, type State } from "./state";
import { storyView } from "./storyview";

const VIEWS: [State["view"], string][] = [["story", "Stories"], ["lab", "Lab"], ["gallery", "Drives"]];
const main = document.querySelector("main")!;
const nav = document.querySelector("header nav")!;
let state = read(location.hash);
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
  const views = { story: storyView, lab, gallery };
  shown = views[state.view](state, changed);
  main.replaceChildren(shown.element);
  nav.replaceChildren(...VIEWS.map(([view, name]) => h("a", { href: write({ ...state, view }), "aria-current": view === state.view ? "page" : undefined }, name)));
}

window.addEventListener("hashchange", () => {
  state = read(location.hash);
  show();
});
show();
