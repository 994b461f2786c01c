import { size, speed } from "../units";
import type { Answer } from "../types";
import {
  bytesPerSecond, endOf, intoCacheAfterPause, meanOf, phase, speedOf, writeAmplification, written, type Story,
} from "./story";

const ALDRIN = "aldrin-pro-2tb";

const whyItFalls: Story = {
  title: "Why does a 2 TB drive slow down?",
  steps: [
    {
      drive: ALDRIN,
      job: "fill",
      quiz: {
        ask: "We write 2 TB to an empty SSD without a pause. What happens to its speed?",
        choices: ["It stays the same", "It falls once", "It falls more than once"],
        right: (answer) => Math.min(answer.phases.length - 1, 2),
      },
      text: (answer) =>
        `It starts at ${speedOf(answer, 0)}. After ${endOf(answer, 0)} it falls to ${speedOf(answer, 1)}, ` +
        `and after ${endOf(answer, 1)} to ${speedOf(answer, 2)}.`,
    },
    {
      drive: ALDRIN,
      job: "fill",
      text: (answer) =>
        `A cell of this drive can hold ${answer.drive.bits_per_cell} bits, which takes long to write; with one bit it is written ` +
        `several times as fast, so the drive uses empty cells with one bit first: the SLC cache. Press Play: orange superblocks hold one ` +
        `bit a cell, and they are what is fast.`,
    },
    {
      drive: ALDRIN,
      job: "fill",
      text: (answer) =>
        `At ${endOf(answer, 0)} no cell is left for one bit, so new data go straight to cells with ${answer.drive.bits_per_cell} bits (blue). ` +
        `That is the first fall: nothing is broken and nothing is hot, the drive only writes as fast as its cells can.`,
    },
    {
      drive: ALDRIN,
      job: "fill",
      quiz: {
        ask: "Now every superblock is in use, and the cache still holds its data at one bit a cell. Where does the rest go?",
        choices: [
          "The drive is full: it stops",
          "The drive copies cached data into cells with more bits to make room",
          "The drive overwrites old data",
        ],
        right: () => 1,
      },
      text: (answer) =>
        `To make room the drive moves cached data into cells with ${answer.drive.bits_per_cell} bits, which is called folding, while you keep writing. ` +
        `It does that work and yours at the same time, so you get ${speedOf(answer, 2)}: the second fall.`,
    },
  ],
};

const recovery: Story = {
  title: "How long do I have to wait?",
  steps: [
    {
      drive: "atom-50-1tb",
      job: "pause-30s",
      quiz: {
        ask: "We write 35 % of the drive, wait 30 seconds, and write on. Is the cache back?",
        choices: ["Yes, all of it", "A part of it", "No"],
        right: (answer) => recovered(answer),
      },
      text: (answer) =>
        `After 30 seconds ${size(intoCacheAfterPause(answer))} went into the cache again. In a pause the drive folds what the cache holds, ` +
        `and how much it frees depends on how long the pause is and on how eager its firmware is.`,
    },
    {
      drive: "atom-50-1tb",
      job: "pause-5min",
      text: (answer) =>
        `After five minutes it is ${size(intoCacheAfterPause(answer))}. What a drive does in a pause is the firmware's choice: turn ` +
        `“Idle threshold” and “Idle rate” in the lab and see it change.`,
    },
    {
      drive: "atom-50-1tb",
      knobs: { "cache.idle.threshold": "never" },
      job: "pause-5min",
      text: (answer) =>
        `The same drive with a firmware that never folds in idle time: ${size(intoCacheAfterPause(answer))} after five minutes. ` +
        `Such a drive is fast once, and then only after data are deleted.`,
    },
  ],
};

function recovered(answer: Answer): number {
  const share = intoCacheAfterPause(answer) / (phase(answer, 0).to_bytes * answer.denominator);
  return share > 0.8 ? 0 : share > 0.01 ? 1 : 2;
}

const modes: Story = {
  title: "The same drive without its cache",
  steps: [
    {
      drive: ALDRIN,
      job: "fill",
      text: (answer) =>
        `As it is sold: ${speedOf(answer, 0)} at first, ${meanOf(answer)} in the mean over the whole drive. An article took such a drive's vendor tool ` +
        `and set its cache up in other ways; here is what that does.`,
    },
    {
      drive: ALDRIN,
      knobs: { "cache.mode": "pure-xlc" },
      job: "fill",
      quiz: {
        ask: "The cache is switched off: every write goes to cells with three bits. How long does the whole fill take?",
        choices: ["Longer than with the cache", "Shorter than with the cache"],
        right: (answer) => (bytesPerSecond(answer) > 1.4e9 ? 1 : 0),
      },
      text: (answer) =>
        `${speedOf(answer, 0)} from the first byte to the last, and the mean is ${meanOf(answer)}. ` +
        `Nothing is written twice, so a long write ends sooner without the cache: the cache makes short writes fast, not long ones.`,
    },
    {
      drive: ALDRIN,
      knobs: { "cache.mode": "pure-slc" },
      job: "fill",
      text: (answer) =>
        `All cells hold one bit: ${speedOf(answer, 0)} all the way, on a drive of only ${size(answer.drive.capacity_bytes * answer.denominator)}. ` +
        `That is what the cache borrows from: speed now, for room later.`,
    },
  ],
};

const firmwares: Story = {
  title: "Three firmwares on one NAND",
  steps: [
    {
      drive: ALDRIN,
      knobs: { "cache.when_full": "fold" },
      job: "fill",
      text: (answer) =>
        `Fold first: once the cache is full, every new write waits until cached data have been folded. It falls once, at ${endOf(answer, 0)}, ` +
        `and far, to ${speedOf(answer, 1)}.`,
    },
    {
      drive: ALDRIN,
      knobs: { "cache.when_full": "direct-then-fold" },
      job: "fill",
      quiz: {
        ask: "The second firmware writes to native cells first and folds only when it must. Is its fill faster?",
        choices: ["Yes", "No"],
        right: () => 0,
      },
      text: (answer) =>
        `Direct, then fold: ${speedOf(answer, 1)} until ${endOf(answer, 1)}, and only then ${speedOf(answer, 2)}. The mean is ${meanOf(answer)}, ` +
        `because less is folded while you wait.`,
    },
    {
      drive: ALDRIN,
      knobs: { "cache.when_full": "in-place-switch" },
      job: "fill",
      text: (answer) =>
        `Switch in place: cells that hold one bit get their other bits, and nothing is copied. The speed after ${endOf(answer, 0)} is ` +
        `${speedOf(answer, 1)} and the mean ${meanOf(answer)}.`,
    },
  ],
};

const readParadox: Story = {
  title: "Why are old files slower to read?",
  steps: [
    {
      drive: "rocket-q-1tb",
      job: "read-paradox",
      quiz: {
        ask: "We write a file to a QLC drive, read it at random, wait ten minutes, and read it again. Which is faster?",
        choices: ["Fresh from the write", "After the pause", "Both the same"],
        right: (answer) => readOrder(answer),
      },
      text: (answer) =>
        `Right after the write it is read at ${speed(readSpeeds(answer)[0])}, ten minutes later at ${speed(readSpeeds(answer)[1])}. ` +
        `At first the file lies in cells with one bit, which are quick to read; what is folded in the pause lies in cells with ${answer.drive.bits_per_cell} bits.`,
    },
    {
      drive: "rocket-q-1tb",
      knobs: { "cache.idle.threshold": "never" },
      job: "read-paradox",
      text: (answer) =>
        `A firmware that folds nothing in the pause: ${speed(readSpeeds(answer)[0])} and ${speed(readSpeeds(answer)[1])}. ` +
        `A benchmark that reads what it has just written measures the cache, not the drive.`,
    },
  ],
};

/** Of what was read before the pause, and after it. */
export function readSpeeds(answer: Answer): [number, number] {
  const { end_ns, read_bytes } = answer.over_time;
  const reading = end_ns.map((_, bin) => bin).filter((bin) => read_bytes[bin]! > 0);
  const sums: [number, number][] = [[0, 0], [0, 0]];
  let gap = reading.findIndex((bin, place) => place > 0 && bin - reading[place - 1]! > 3);
  if (gap < 0) gap = reading.length;
  reading.forEach((bin, place) => {
    const sum = sums[place < gap ? 0 : 1]!;
    sum[0] += read_bytes[bin]!;
    sum[1] += end_ns[bin]! - (end_ns[bin - 1] ?? answer.start_ns);
  });
  const rate = ([bytes, ns]: [number, number]) => (ns > 0 ? (bytes / ns) * 1e9 : 0);
  return [rate(sums[0]!), rate(sums[1]!)];
}

function readOrder(answer: Answer): number {
  const [hot, cold] = readSpeeds(answer);
  return Math.abs(hot / cold - 1) < 0.05 ? 2 : hot > cold ? 0 : 1;
}

const spareSpace: Story = {
  title: "A full drive, and what spare space buys",
  steps: [
    {
      drive: "pm871b-128gb",
      job: "random",
      quiz: {
        ask: "The drive is full, and we overwrite it at random, 4 KiB at a time. How many bytes go into cells for each byte we write?",
        choices: ["One", "Up to two", "More than two"],
        right: (answer) => (writeAmplification(answer) < 1.1 ? 0 : writeAmplification(answer) <= 2 ? 1 : 2),
      },
      text: (answer) =>
        `${writeAmplification(answer).toFixed(1)} over the whole run: a superblock is erased as a whole, so what is still valid in it is copied first. ` +
        `${size(written(answer, "gc_bytes_total") * answer.denominator)} were copied in all.`,
    },
    {
      drive: "pm871b-128gb",
      knobs: { "nand.blocks_per_plane": "+25%" },
      job: "random",
      text: (answer) =>
        `With a quarter more cells and the same capacity it is ${writeAmplification(answer).toFixed(1)}. Spare space leaves more invalid pages in each superblock ` +
        `before it is cleaned, so less is copied; leaving a part of your drive empty does the same.`,
    },
  ],
};

const heat: Story = {
  title: "Heat or cache?",
  steps: [
    {
      drive: "sn850-1tb",
      knobs: { "heat.board_to_air": "30K/W" },
      job: "fill",
      quiz: {
        ask: "A drive without a heat sink is filled, and its speed goes up and down. Is that the cache?",
        choices: ["Yes", "No: the drive slows itself down to stay cool"],
        right: (answer) => (Math.max(...answer.curve.throttle_level) > 0 ? 1 : 0),
      },
      text: (answer) =>
        `It reached ${(Math.max(...answer.curve.temperature_millicelsius) / 1000).toFixed(0)} °C. ` +
        (Math.max(...answer.curve.throttle_level) > 0
          ? "Above its limit a drive slows its link down; that comes back when it has cooled, while a full cache stays full."
          : "That is below its limit, so every fall that you see is the cache."),
    },
    {
      drive: "sn850-1tb",
      knobs: { "heat.board_to_air": "2K/W" },
      job: "fill",
      text: (answer) =>
        `With a large heat sink it stays at ${(Math.max(...answer.curve.temperature_millicelsius) / 1000).toFixed(0)} °C, and what is left of the curve is the cache alone. ` +
        `A reviewer who shows both curves knows which is which.`,
    },
  ],
};

export const STORIES: Story[] = [whyItFalls, recovery, modes, firmwares, readParadox, spareSpace, heat];
