// How bytes get into the simulator's module and out of it (crates/web/src/abi.rs).

export interface Module {
  memory: WebAssembly.Memory;
  start(): void;
  reserve(length: number): number;
  release(address: number, length: number): void;
  answer(address: number, length: number): number;
  derive(address: number, length: number): number;
}

/** Starts the module; `panicked` is told why it ended, if it does. */
export async function start(module: WebAssembly.Module, progress: (permille: number) => void, panicked: (words: string) => void): Promise<Module> {
  let exports: Module | null = null;
  const words = (at: number, length: number) => panicked(new TextDecoder().decode(new Uint8Array(exports!.memory.buffer, at, length)));
  const instance = await WebAssembly.instantiate(module, { pslc: { progress, panicked: words } });
  exports = instance.exports as unknown as Module;
  exports.start();
  return exports;
}

/** Puts a question into the module's memory, and takes the answer out of it: JSON, and bytes behind it. */
export function call(module: Module, what: "answer" | "derive", question: unknown): { json: unknown; bytes: Uint8Array } {
  const text = new TextEncoder().encode(JSON.stringify(question));
  // Addresses are unsigned: a large drive may take more than 2 GB.
  const asked = module.reserve(text.length) >>> 0;
  new Uint8Array(module.memory.buffer, asked, text.length).set(text);
  const at = module[what](asked, text.length) >>> 0;
  module.release(asked, text.length);
  const lengths = new DataView(module.memory.buffer, at, 8);
  const [jsonLength, length] = [lengths.getUint32(0, true), lengths.getUint32(4, true)];
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(module.memory.buffer, at + 8, jsonLength)));
  const bytes = new Uint8Array(module.memory.buffer, at + 8 + jsonLength, length).slice();
  module.release(at, 8 + jsonLength + length);
  return { json, bytes };
}
