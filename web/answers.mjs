// As crates/web/examples/answers.rs, by the WebAssembly module: node web/answers.mjs MODULE < QUESTIONS
// With a second argument, `json`, whole answers, each with what it took: milliseconds of a processor, and bytes of the module's memory.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const POLYNOMIAL = 0xc96c5795d7870f42n;
const TABLE = BigUint64Array.from({ length: 256 }, (_, byte) => {
  let value = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ POLYNOMIAL : value >> 1n;
  return value;
});

/** CRC-64/XZ, in two halves: numbers are faster than bigints. */
function checksum(bytes) {
  let [high, low] = [0xffffffff, 0xffffffff];
  const highs = Uint32Array.from(TABLE, (value) => Number(value >> 32n));
  const lows = Uint32Array.from(TABLE, (value) => Number(value & 0xffffffffn));
  for (const byte of bytes) {
    const at = (low ^ byte) & 0xff;
    low = (((low >>> 8) | (high << 24)) ^ lows[at]) >>> 0;
    high = ((high >>> 8) ^ highs[at]) >>> 0;
  }
  const hex = (half) => ((half ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
  return hex(high) + hex(low);
}

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
for await (const line of createInterface({ input: process.stdin })) {
  // Memory of a module only grows, so each question has a new one.
  const panicked = (at, length) => console.error(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length)));
  const { exports } = new WebAssembly.Instance(module, { pslc: { progress() {}, panicked } });
  exports.start();
  const question = new TextEncoder().encode(line);
  const asked = exports.reserve(question.length) >>> 0;
  new Uint8Array(exports.memory.buffer, asked, question.length).set(question);
  const began = process.cpuUsage();
  const at = exports.answer(asked, question.length) >>> 0;
  const { user, system } = process.cpuUsage(began);
  const lengths = new DataView(exports.memory.buffer, at, 8);
  const json = lengths.getUint32(0, true);
  if (process.argv[3] === "json") {
    const answer = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at + 8, json));
    console.log(`{"cpu_ms":${(user + system) / 1000},"memory_bytes":${exports.memory.buffer.byteLength},"answer":${answer}}`);
  } else console.log(checksum(new Uint8Array(exports.memory.buffer, at, 8 + json + lengths.getUint32(4, true))));
}
