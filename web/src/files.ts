// Files that a reader drops on the lab: a drive's profile, or a curve as pslc writes it. Logs of other programs are read by
// `pslc analyze`, which knows their traps; here they are refused.
import type { Measured } from "./types";

export class Unreadable extends Error {}

/** Beyond it a page would stand still; profiles take some kB, curves some hundred. */
const MAX_FILE_BYTES = 5e6;
const BYTES: Record<string, number> = { B: 1, MB: 1e6, GB: 1e9, TB: 1e12 };
const RATES: Record<string, number> = { "B/s": 1, "MB/s": 1e6, "GB/s": 1e9 };
const ELSEWHERE = "pslc analyze FILE reads logs of fio and two dozen other programs";

export async function open(file: File): Promise<{ profile: string } | { measured: Measured }> {
  if (file.size > MAX_FILE_BYTES) throw new Unreadable(`${file.name} is larger than ${MAX_FILE_BYTES / 1e6} MB. ${ELSEWHERE}.`);
  const text = (await file.text()).replace(/^\uFEFF/, "");
  if (/\.toml$/i.test(file.name)) return { profile: text };
  return { measured: { label: file.name, points: curve(file.name, text) } };
}

/** The rows of a table whose first line names and measures its columns: `written (GB),speed (MB/s)`. */
function curve(name: string, text: string): { x: number; y: number }[] {
  const [head = "", ...rows] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
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
