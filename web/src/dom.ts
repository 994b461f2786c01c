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
