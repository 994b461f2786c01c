// How numbers are shown, as pslc does it everywhere: decimal units, three digits.

const SIZES: [number, string][] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];

function digits(value: number): string {
  return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1).replace(/\.0$/, "") : value.toPrecision(3).replace(/\.?0+$/, "");
}

export function size(bytes: number): string {
  const [scale, unit] = SIZES.find(([scale]) => bytes >= scale) ?? [1, "B"];
  return `${digits(bytes / scale)} ${unit}`;
}

/** In MB/s, as reviews say it. */
export function speed(bytesPerSecond: number): string {
  return `${bytesPerSecond >= 1e8 ? Math.round(bytesPerSecond / 1e6) : digits(bytesPerSecond / 1e6)} MB/s`;
}

export function time(ns: number): string {
  const seconds = ns / 1e9;
  if (seconds >= 7200) return `${digits(seconds / 3600)} h`;
  if (seconds >= 120) return `${digits(seconds / 60)} min`;
  if (seconds >= 1) return `${digits(seconds)} s`;
  if (seconds >= 1e-3) return `${digits(seconds * 1e3)} ms`;
  return `${digits(seconds * 1e6)} µs`;
}
