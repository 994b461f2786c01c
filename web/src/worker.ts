// Runs the simulator away from the page. Messages: first the compiled module, then questions; back come how far it is, and
// an answer or a failure.
import type { Answer, Failure, Question } from "./types";

interface Simulator {
  memory: WebAssembly.Memory;
  start(): void;
  reserve(length: number): number;
  release(address: number, length: number): void;
  answer(address: number, length: number): number;
}

export type ToWorker = { module: WebAssembly.Module } | { id: number; question: Question };
export type FromWorker =
  | { id: number; permille: number }
  | { id: number; answer: Answer }
  | { id: number; failure: Failure };

let simulator: Promise<Simulator>;
let running = 0;
let panic = "";

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if ("module" in data) {
    const progress = (permille: number) => self.postMessage({ id: running, permille });
    const panicked = (at: number, length: number) => {
      panic = new TextDecoder().decode(new Uint8Array(exports!.memory.buffer, at, length));
    };
    let exports: Simulator | null = null;
    simulator = WebAssembly.instantiate(data.module, { pslc: { progress, panicked } }).then((instance) => {
      exports = instance.exports as unknown as Simulator;
      exports.start();
      return exports;
    });
    return;
  }
  running = data.id;
  self.postMessage(reply(await simulator, data.id, data.question));
};

function reply(simulator: Simulator, id: number, question: Question): FromWorker {
  try {
    const answer = ask(simulator, question);
    return "message" in answer ? { id, failure: answer } : { id, answer };
  } catch (error) {
    return { id, failure: { message: `the simulator stopped: ${panic || error}`, hint: "reload the page; this is a bug in pslc" } };
  }
}

/** Puts the question into the module's memory, and takes the answer out of it. */
function ask(simulator: Simulator, question: Question): Answer | Failure {
  const text = new TextEncoder().encode(JSON.stringify(question));
  const asked = simulator.reserve(text.length);
  new Uint8Array(simulator.memory.buffer, asked, text.length).set(text);
  const at = simulator.answer(asked, text.length);
  simulator.release(asked, text.length);
  const lengths = new DataView(simulator.memory.buffer, at, 8);
  const [json, film] = [lengths.getUint32(0, true), lengths.getUint32(4, true)];
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(simulator.memory.buffer, at + 8, json)));
  if (!("message" in answer)) answer.pictures = new Uint8Array(simulator.memory.buffer, at + 8 + json, film).slice();
  simulator.release(at, 8 + json + film);
  return answer;
}
