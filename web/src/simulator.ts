// Questions to the simulator, in a worker of its own: the newest one counts.
import wasm from "../../target/wasm/wasm32-unknown-unknown/web/pslc_web.wasm?base64";
import type { Answer, Failure, Question } from "./types";
import SimulatorWorker from "./worker?worker&inline";
import type { FromWorker } from "./worker";

/** Compiled once; each worker has an instance, and so has the making of drives. */
export const compiled = WebAssembly.compile(moduleBytes());

function moduleBytes(): ArrayBuffer {
  const text = atob(wasm);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes.buffer;
}

export class Failed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/** The question was given up for a newer one. */
export class Superseded extends Error {}

interface Waiting {
  id: number;
  question: Question;
  resolve(answer: Answer): void;
  reject(error: Error): void;
  progress(permille: number): void;
}

export class Simulator {
  private worker = this.start();
  private waiting: Waiting | null = null;
  /** Asked while another question is worked out that is not given up. */
  private next: Waiting | null = null;
  private questions = 0;

  /** @param ends - Whether a newer question ends the computation of an older one: worth it where that takes long. */
  constructor(private readonly ends: boolean) {}

  private async start(): Promise<Worker> {
    const worker = new SimulatorWorker();
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    worker.postMessage({ module: await compiled });
    return worker;
  }

  private receive(message: FromWorker): void {
    const waiting = this.waiting;
    if (waiting?.id !== message.id) return;
    if ("permille" in message) return waiting.progress(message.permille);
    this.waiting = null;
    if (this.next !== null) {
      waiting.reject(new Superseded());
      this.send(this.next);
      this.next = null;
    } else if ("answer" in message) waiting.resolve(message.answer);
    else waiting.reject(new Failed(message.failure));
  }

  private send(waiting: Waiting): void {
    this.waiting = waiting;
    void this.worker.then((worker) => {
      if (this.waiting === waiting) worker.postMessage({ id: waiting.id, question: waiting.question });
    });
  }

  /** Gives up what is being worked out. A computation cannot be interrupted, so its worker ends with it. */
  cancel(): void {
    this.next?.reject(new Superseded());
    this.next = null;
    if (this.waiting === null) return;
    this.waiting.reject(new Superseded());
    this.waiting = null;
    void this.worker.then((worker) => worker.terminate());
    this.worker = this.start();
  }

  ask(question: Question, progress: (permille: number) => void = () => {}): Promise<Answer> {
    if (this.ends) this.cancel();
    const id = ++this.questions;
    return new Promise((resolve, reject) => {
      const waiting = { id, question, resolve, reject, progress };
      if (this.waiting === null) return this.send(waiting);
      this.next?.reject(new Superseded());
      this.next = waiting;
    });
  }
}
