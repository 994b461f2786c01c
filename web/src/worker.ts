// Runs the simulator away from the page. Messages: first the compiled module, then questions; back come how far it is, and
// an answer or a failure.
import type { Answer, Failure, Question } from "./types";
import { call, start, type Module } from "./wasm";

export type ToWorker = { module: WebAssembly.Module } | { id: number; question: Question };
export type FromWorker =
  | { id: number; permille: number }
  | { id: number; answer: Answer }
  | { id: number; failure: Failure };

let simulator: Promise<Module>;
let running = 0;
let panic = "";

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if ("module" in data) {
    const progress = (permille: number) => self.postMessage({ id: running, permille });
    simulator = start(data.module, progress, (words) => { panic = words; });
    return;
  }
  running = data.id;
  self.postMessage(reply(await simulator, data.id, data.question));
};

function reply(simulator: Module, id: number, question: Question): FromWorker {
  try {
    const { json, bytes } = call(simulator, "answer", question);
    const answer = json as Answer | Failure;
    return "message" in answer ? { id, failure: answer } : { id, answer: { ...answer, pictures: bytes } };
  } catch (error) {
    return { id, failure: { message: `the simulator stopped: ${panic || error}`, hint: "copy it as a command: pslc run has more memory. If that stops, too, this is a bug in pslc" } };
  }
}
