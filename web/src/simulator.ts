// Questions to the simulator: the newest one counts, an older one that is still being worked out is given up.
import wasm from "../../target/wasm/wasm32-unknown-unknown/web/pslc_web.wasm?base64";
import type { Answer, Failure, Question } from "./types";
import SimulatorWorker from "./worker?worker&inline";
import type { FromWorker } from "./worker";

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
  resolve(answer: Answer): void;
  reject(error: Error): void;
  progress(permille: number): void;
}

export class Simulator {
  private worker = this.start();
  private waiting: Waiting | null = null;
  private questions = 0;

  private start(): Worker {
    const worker = new SimulatorWorker();
    const module = moduleBytes();
    worker.postMessage({ module }, [module]);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    return worker;
  }

  private receive(message: FromWorker): void {
    const waiting = this.waiting;
    if (waiting?.id !== message.id) return;
    if ("permille" in message) return waiting.progress(message.permille);
    this.waiting = null;
    if ("answer" in message) waiting.resolve(message.answer);
    else waiting.reject(new Failed(message.failure));
  }

  /** Gives up what is being worked out. A computation cannot be interrupted, so its worker ends with it. */
  cancel(): void {
    if (this.waiting === null) return;
    this.waiting.reject(new Superseded());
    this.waiting = null;
    this.worker.terminate();
    this.worker = this.start();
  }

  ask(question: Question, progress: (permille: number) => void = () => {}): Promise<Answer> {
    this.cancel();
    const id = ++this.questions;
    return new Promise((resolve, reject) => {
      this.waiting = { id, resolve, reject, progress };
      this.worker.postMessage({ id, question });
    });
  }
}
