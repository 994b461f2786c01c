// What a reader drops or pastes: a drive's profile, a curve as pslc writes it, or an averaged log of one job of fio. All else
// is left to `pslc analyze`, which knows the traps of logs; here it is refused.
import type { Measured } from "./types";

export class Unreadable extends Error {}

/** Beyond it a page would stand still; profiles take some kB, curves some hundred. */
const MAX_FILE_BYTES = 5e6;
const BYTES: Record<string, number> = { B: 1, MB: 1e6, GB: 1e9, TB: 1e12 };
const RATES: Record<string, number> = { "B/s": 1, "MB/s": 1e6, "GB/s": 1e9 };
const ELSEWHERE = "pslc analyze FILE reads logs of fio and two dozen other programs";
/** Of fio's: milliseconds, value, direction, size. */
const LOG = /^\s*(\d{1,15}),\s*(\d{1,15}),\s*([0-2]),\s*\d+\s*(,.*)?$/;
const TABLE = /^"?written \(/;
const WRITES = "1";
/** Intervals of a log are of one length, within this share of it. */
const MAX_JITTER = 0.2;

export async function open(file: File): Promise<{ profile: string } | { measured: Measured }> {
  if (file.size > MAX_FILE_BYTES) throw new Unreadable(`${file.name} is larger than ${MAX_FILE_BYTES / 1e6} MB. ${ELSEWHERE}.`);
  const text = (await file.text()).replace(/^\uFEFF/, "");
  if (/\.toml$/i.test(file.name)) return { profile: text };
  return { measured: measuredIn(file.name, text) };
}

/** Whether a text is rows of a curve or of a log, not words about a drive. */
export const isCurve = (text: string): boolean => TABLE.test(text) || LOG.test(text.split("\n")[0]!);

export function measuredIn(label: string, text: string): Measured {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  return { label, points: LOG.test(lines[0] ?? "") ? log(label, lines) : curve(label, lines) };
}

/** Bandwidth over time, KiB/s, of the writes of one job: each row is the mean of the interval that ends with it. */
function log(name: string, lines: string[]): Measured["points"] {
  if (/(^|_)(iops|[cs]?lat)\b/.test(name)) throw new Unreadable(`${name} is a log of requests or latencies, and no bandwidth. fio --write_bw_log=NAME --log_avg_msec=500 writes one.`);
  const rows = lines.map((line, at) => LOG.exec(line) ?? fail(`${name}, line ${at + 1}: "${line.slice(0, 60)}" is no line of an fio log.`));
  const writes = rows.filter((row) => row[3] === WRITES).map((row) => [Number(row[1]), Number(row[2])] as const);
  const spans = writes.map(([ms], at) => ms - (writes[at - 1]?.[0] ?? 0));
  const usual = [...spans].sort((a, b) => a - b)[Math.floor(spans.length / 2)] ?? 0;
  // The last interval ends with the job.
  const isEven = spans.slice(0, -1).every((span) => Math.abs(span / usual - 1) <= MAX_JITTER);
  if (writes.length < 2) throw new Unreadable(`${name} has ${writes.length} rows of writes, a curve needs two. ${ELSEWHERE}.`);
  if (usual === 0 || !isEven) throw new Unreadable(`${name} is no averaged log of one job from its beginning: its times are not even. ${ELSEWHERE}.`);
  let written = 0;
  return writes.map(([, kib], at) => ({ x: (written += (kib * 1024 * spans[at]!) / 1000), y: kib * 1024 }));
}

function fail(words: string): never {
  throw new Unreadable(words);
}

/** The rows of a table whose first line names and measures its columns: `written (GB),speed (MB/s)`. */
function curve(name: string, [head = "", ...rows]: string[]): Measured["points"] {
  const columns = head.split(",").map((column) => /^\s*"?(.*?) \((.*?)\)"?\s*$/.exec(column));
  const place = (word: string, units: Record<string, number>) =>
    columns.findIndex((column) => column !== null && column[1] === word && column[2]! in units);
  const [written, speed] = [place("written", BYTES), place("speed", RATES)];
  if (written < 0 || speed < 0)
    throw new Unreadable(`${name} is neither a profile (.toml) nor a table that begins with "written (GB),speed (MB/s)". ${ELSEWHERE}.`);
  const [bytes, rate] = [BYTES[columns[written]![2]!]!, RATES[columns[speed]![2]!]!];
  const points = rows.map((row, line) => {
    const cells = row.split(",");
    const [x, y] = [number(cells[written]), number(cells[speed])];
    if (!(x >= 0 && y >= 0)) throw new Unreadable(`${name}, line ${line + 2}: "${row.slice(0, 60)}" has no size and speed.`);
    return { x: x * bytes, y: y * rate };
  });
  const back = points.findIndex((point, at) => at > 0 && point.x <= points[at - 1]!.x);
  if (back >= 0) throw new Unreadable(`${name}, line ${back + 2}: what was written does not grow. One curve a file.`);
  if (points.length < 2) throw new Unreadable(`${name} has ${points.length} rows, a curve needs two.`);
  return points;
}

function number(cell: string | undefined): number {
  return cell === undefined || cell.trim() === "" ? Number.NaN : Number(cell);
}
