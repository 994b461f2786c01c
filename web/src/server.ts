// What `pslc lab` answers behind this page (python/pslc/lab/api.py). Without it the page stands alone.
import type { FigureJson } from "./drawing";
import type { Measured } from "./types";

/** Whether `pslc lab` serves the page. */
export const SERVED = document.documentElement.hasAttribute("data-lab");

export interface Entry {
  name: string;
  began: string;
  suite: string;
  drive: string;
  target: string;
  cache_bytes: number | null;
  mean_bytes_per_s: number | null;
}

export interface Library {
  suites: Record<string, string>;
  recordings: Entry[];
  unreadable: string[];
  profiles: Record<string, string>;
  drive_files: string[];
  max_upload_bytes: number;
}

export interface View {
  name: string;
  kind: "recording" | "log" | "trace" | "drive" | "chart";
  title: string;
  sentences: string[];
  warnings: string[];
  notes: string[];
  tables: { title: string; columns: string[]; rows: string[][]; words: string[] }[];
  figures: FigureJson[];
  curve: { label: string; x: number[]; y: number[] } | null;
  picture: string;
}

export interface Task {
  id: number;
  command: string;
  status: string;
  code: number | null;
  recording: string;
  profile: string;
  errors: string[];
}

export interface Device {
  path: string;
  model: string | null;
  bus: string | null;
  bytes: number | null;
  users: string[];
}

/** A drive as a command takes it: one of these, and keys that win over its profile. */
export interface DriveSpec {
  name?: string;
  profile?: string;
  file?: string;
  upload?: string;
  keys?: [string, string][];
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new Error("pslc lab does not answer. Start it again: pslc lab");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.message}. ${answer.hint}`);
  return answer as T;
}

export const get = <T>(path: string, query: Record<string, string> = {}): Promise<T> => ask<T>(`${path}?${new URLSearchParams(query)}`);
export const post = <T>(path: string, request: unknown): Promise<T> => ask<T>(path, { method: "POST", body: JSON.stringify(request) });

/** Sends files that belong together, and gets what they say. */
export function upload(files: File[]): Promise<View> {
  const head = JSON.stringify({ names: files.map((file) => file.name), sizes: files.map((file) => file.size) });
  return ask("api/upload", { method: "POST", body: new Blob([head, "\n", ...files]) });
}

/** A curve for the lab, which it lays over those of its drive. */
export function measuredOf(view: View): Measured | null {
  if (view.curve === null) return null;
  const { label, x, y } = view.curve;
  return { label, points: x.map((value, at) => ({ x: value, y: y[at]! })) };
}
