// A drive of the library by its name, or by a text in which its name stands: CrystalDiskInfo's, smartctl's, a shop's.
import { DRIVES } from "./data";
import type { DriveData } from "./types";

const UNITS: Record<string, number> = { gb: 1e9, tb: 1e12 };
/** Capacities in names are rounded: 500 GB and 512 GB are two drives, 1000 GB and 1 TB are one. */
const MAX_CAPACITY_RATIO = 1.02;

const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

/** Words of a model, without its capacity. */
const modelOf = (drive: DriveData): string[] => words(drive.name.replace(/[0-9.]+ ?[GT]B.*$/i, ""));

function capacitiesIn(text: string): number[] {
  return [...text.toLowerCase().matchAll(/([0-9]+(?:\.[0-9]+)?) ?([gt]b)/g)].map(([, number, unit]) => Number(number) * UNITS[unit!]!);
}

/** Whether a text has a word of a model; long ones also within a vendor's code, as in CT1000MX500SSD1. */
const has = (given: Set<string>, word: string): boolean => given.has(word) || (word.length >= 5 && [...given].some((each) => each.includes(word)));

/** The drive that a text is about, and whether the text has its capacity; null if it names none. */
export function findDrive(text: string): { drive: DriveData; isOfSize: boolean } | null {
  const given = new Set(words(text));
  const capacities = capacitiesIn(text);
  const isOfSize = (drive: DriveData) => capacities.some((bytes) => Math.max(bytes / drive.capacity_bytes, drive.capacity_bytes / bytes) < MAX_CAPACITY_RATIO);
  // A maker alone is no model: its word with a digit has to be there.
  const named = DRIVES.filter((drive) => {
    const telling = modelOf(drive).filter((word) => /[0-9]/.test(word));
    return telling.length > 0 && telling.every((word) => has(given, word));
  });
  // A whole word before a part of one: SN850X is no SN850.
  const score = (drive: DriveData) => modelOf(drive).reduce((sum, word) => sum + (given.has(word) ? 1 : has(given, word) ? 0.4 : 0), isOfSize(drive) ? 0.5 : 0);
  const [drive] = named.sort((a, b) => score(b) - score(a));
  return drive === undefined ? null : { drive, isOfSize: isOfSize(drive) };
}
