/// <reference types="vite/client" />
declare module "*.wasm?base64" {
  const bytes: string;
  export default bytes;
}
