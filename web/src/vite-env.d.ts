/// <reference types="vite/client" />
declare module "*.wasm?base64" {
  const bytes: string;
  export default bytes;
}
declare module "*/figure.js" {
  export function file(figure: object, kind: "png" | "svg" | "card", element: HTMLElement, white: boolean): Promise<string>;
  export function show(element: HTMLElement, figure: object, onMove?: (x: number) => void): void;
}
