// Elements in one expression.

type Children = (Node | string)[];
type Options = Record<string, string | number | boolean | EventListener | undefined>;

/** `onclick` and the like are listeners, everything else attributes; `false` and undefined leave one out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: Children
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/** A button that copies a text; where the browser refuses to, the text stands beside it. */
export function copier(label: string, text: () => string): HTMLElement {
  const told = h("span", { role: "status" });
  const copy = () => navigator.clipboard.writeText(text()).then(() => { told.textContent = "Copied."; }, () => { told.replaceChildren(h("code", {}, text())); });
  return h("span", { class: "copier" }, h("button", { type: "button", onclick: () => void copy() }, label), told);
}
