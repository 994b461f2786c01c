// What phases are called and how they look, everywhere on the page.
import type { Answer, Cause, Phase } from "./types";
import { size, speed, time } from "./units";

export const CAUSES: Record<Cause, { label: string; color: string }> = {
  pslc: { label: "into the SLC cache", color: "var(--slc)" },
  direct: { label: "directly to native cells", color: "var(--native)" },
  fold: { label: "folding makes room in the cache", color: "var(--fold)" },
  "direct-while-folding": { label: "native cells, beside folding", color: "var(--both)" },
  gc: { label: "garbage collection", color: "var(--gc)" },
  read: { label: "reading", color: "var(--read)" },
};

/** A sentence for eyes and for screen readers. */
export function summary(answer: Answer): string {
  const parts = answer.phases.map(
    (phase) => `${speed(phase.bytes_per_s)} until ${size(phase.to_bytes * answer.denominator)} (${CAUSES[phase.cause].label})`,
  );
  const scale = answer.denominator > 1 ? ` Computed on a copy of the drive 1/${answer.denominator} its size.` : "";
  return `${answer.drive.name}: ${parts.join(", then ")}.${scale}`;
}

export function phaseRow(phase: Phase, denominator: number): string[] {
  return [
    CAUSES[phase.cause].label,
    `${size(phase.from_bytes * denominator)} to ${size(phase.to_bytes * denominator)}`,
    speed(phase.bytes_per_s),
    time((phase.to_ns - phase.from_ns) * denominator),
  ];
}
