import type { Answer } from "../types";
import { size, speed } from "../units";
import {
  cachePhases, falls, fallsOfHeat, foldingPhase, freeShare, intoCacheAfterPause, isCached, isDirect, isFolding, meanBytesPerSecond, ofWhole, randomWriteAmplification, readSpeeds,
  span, spoken, throttledSeconds, type Step, type Story,
} from "./story";

const ALDRIN = "aldrin-pro-2tb";
const ATOM = "atom-50-1tb";
const ROCKET = "rocket-q-1tb";

/** Superblocks in reserve are free to the end. */
const MAX_FREE_AT_END = 0.15;

const bits = (answer: Answer): string => `${answer.drive.bits_per_cell} bit${answer.drive.bits_per_cell === 1 ? "" : "s"}`;
const mean = (answer: Answer): string => speed(meanBytesPerSecond(answer));

function countOfFalls(answer: Answer): string {
  const all = falls(answer);
  const first = `We write the whole drive without a pause. It starts at ${spoken(answer.phases[0]!)}`;
  if (all.length === 0) return `${first}, and it never falls.`;
  const places = all.map(([before, after]) => `after ${ofWhole(answer, before.to_bytes)} to ${spoken(after)}`);
  return `${first}. It falls ${["once", "twice"][all.length - 1] ?? `${all.length} times`}: ${places.join(", then ")}.`;
}

function whyFast(answer: Answer): string {
  if (!isCached(answer, answer.phases[0])) return `This drive writes ${bits(answer)} into each cell from the first byte: it has no SLC cache to be fast in.`;
  return `Data are kept in cells. One can hold ${bits(answer)}, but that many levels take long to set. With one bit it is done much sooner, so the drive ` +
    "first uses its empty cells with one bit each. That is the SLC cache, orange in the strip of superblocks (cells that are erased together).";
}

function whereCellsGo(answer: Answer): string {
  const cached = cachePhases(answer);
  const next = answer.phases[cached.length];
  if (cached.length === 0) return "Nothing falls here because of a cache, as there is none.";
  const end = ofWhole(answer, cached.at(-1)!.to_bytes);
  if (next === undefined) return `All ${end} went into cells with one bit: the drive is full before its cache is.`;
  const folds = isFolding(answer, next);
  const way = !isDirect(answer, next) ? `To make room, the drive begins to move cached data into cells with ${bits(answer)}`
    : `New data go straight into cells with ${bits(answer)}${folds ? ", while the drive moves cached data there, too" : ""}`;
  return `At ${end} the cache is full. ${way}, at ${spoken(next)}. Nothing is broken: ${folds ? "you share the drive's time with that" : "the drive is now as slow as its cells"}.`;
}

function whyFolding(answer: Answer): string {
  const folding = foldingPhase(answer);
  if (folding === undefined) return "This drive never has to fold in this run: data stay where they were first written.";
  const why = freeShare(answer, folding.from_bytes) < MAX_FREE_AT_END ? "no empty cell is left" : "the cache is full";
  return `From ${ofWhole(answer, folding.from_bytes)} on ${why}, and cached data take ${answer.drive.bits_per_cell} times the cells that they need. ` +
    `The drive folds them: it reads them and writes them again with ${bits(answer)} a cell. You share its time with that, and get ${spoken(folding)}.`;
}

const whyItFalls: Story = {
  title: "Why your SSD slows down",
  steps: [
    { drive: ALDRIN, job: "fill", text: countOfFalls },
    {
      drive: ALDRIN, job: "fill", text: whyFast, cells: (answer) => [1, answer.drive.bits_per_cell],
      question: {
        ask: "How much can be written fast?",
        answer: (answer) => (isCached(answer, answer.phases[0]) ? `At most a ${["whole", "half", "third", "quarter", "fifth"][answer.drive.bits_per_cell - 1]} of the cells' room, and here ${ofWhole(answer, cachePhases(answer).at(-1)!.to_bytes)}: the maker decides how much of it.` : "Nothing is faster than the rest."),
      },
    },
    { drive: ALDRIN, job: "fill", text: whereCellsGo },
    { drive: ALDRIN, job: "fill", text: whyFolding, question: { ask: "Why does the speed fall twice?", answer: (answer) => falls(answer).length === 2 ? "First the cache is full; then nothing is empty any more, and room has to be made." : `On this drive it falls ${falls(answer).length} times.` } },
  ],
};

function cameBack(answer: Answer): string {
  const [fresh, whole] = [intoCacheAfterPause(answer), (cachePhases(answer).at(-1)?.to_bytes ?? 0) * answer.denominator];
  const share = whole > 0 ? fresh / whole : 0;
  const verdict = share > 0.8 ? "nearly all of the cache was there again" : share > 0.01 ? `a part of the cache was there again, ${(100 * share).toFixed(0)} % of it` : "the cache was still full";
  return `${size(fresh)} could be written fast: ${verdict}`;
}

/** How long all of the cache takes, from what two pauses gave; null where the longer one gave no more. */
function wait(short: Answer | undefined, long: Answer): number | null {
  if (short === undefined) return null;
  const rate = (intoCacheAfterPause(long) - intoCacheAfterPause(short)) / (300 - 30);
  const whole = (cachePhases(long).at(-1)?.to_bytes ?? 0) * long.denominator;
  return rate > 0 && whole > intoCacheAfterPause(long) ? 300 + (whole - intoCacheAfterPause(long)) / rate : null;
}

const recovery: Story = {
  title: "How long do I have to wait?",
  steps: [
    { drive: ATOM, job: "pause-30s", text: (answer) => `We write 35 % of the drive, leave it alone for 30 seconds, and write on. ${cameBack(answer)}.` },
    {
      drive: ATOM, job: "pause-5min",
      text: (answer, [short]) => {
        const seconds = wait(short, answer);
        return `After five minutes: ${cameBack(answer)}. In a pause the drive folds what its cache holds.` + (seconds === null ? "" : ` At this pace all of it takes about ${span(seconds)}.`);
      },
      question: { ask: "Do I have to do anything?", answer: () => "No. Leave the drive powered and idle; how soon it begins, and how fast it folds, is up to its firmware." },
    },
    { drive: ATOM, knobs: { "cache.idle.threshold": "never" }, job: "pause-5min", text: (answer) => `The same drive, if its firmware never folds in idle time. After five minutes: ${cameBack(answer)}.` },
  ],
};

function against(now: Answer, before: Answer | undefined, what: string): string {
  if (before === undefined) return "";
  const ratio = meanBytesPerSecond(now) / meanBytesPerSecond(before);
  return Math.abs(ratio - 1) < 0.03 ? ` That is as fast as ${what}.` : ` That is ${Math.round(Math.abs(ratio - 1) * 100)} % ${ratio > 1 ? "more" : "less"} than ${what}.`;
}

function course(answer: Answer): string {
  const all = falls(answer);
  if (all.length === 0) return `${spoken(answer.phases[0]!)} from the first byte to the last`;
  return `${spoken(answer.phases[0]!)} at first, ${all.map(([before, after]) => `${spoken(after)} after ${ofWhole(answer, before.to_bytes)}`).join(", ")}`;
}

const modes: Story = {
  title: "The same drive without its cache",
  steps: [
    { drive: ALDRIN, job: "fill", text: (answer) => `As it is sold: ${spoken(answer.phases[0]!)} at first, ${mean(answer)} in the mean over the whole drive.` },
    { drive: ALDRIN, knobs: { "cache.mode": "pure-xlc" }, job: "fill", text: (answer, [sold]) => `No cache, all cells with ${bits(answer)}: ${course(answer)}, ${mean(answer)} in the mean.${against(answer, sold, "as sold")} A cache makes short writes fast.` },
    { drive: ALDRIN, knobs: { "cache.mode": "pure-slc" }, job: "fill", text: (answer) => `All cells with one bit: ${course(answer)}, but the drive holds only ${ofWhole(answer, answer.drive.capacity_bytes)}. The cache borrows that room and gives it back.` },
  ],
};

const policy = (word: string, lead: string): Step => ({
  drive: ALDRIN, knobs: { "cache.when_full": word }, job: "fill",
  text: (answer, [first]) => `${lead} ${course(answer)}; ${mean(answer)} in the mean.${against(answer, first, "with the first rule")}`,
});

const firmwares: Story = {
  title: "Three firmwares, the same cells",
  steps: [
    policy("fold", "Fold first: once the cache is full, each write waits until cached data are folded: moved into cells with all their bits."),
    policy("direct-then-fold", "Direct, then fold: new data take cells with all their bits as long as there are any, and folding comes last."),
    policy("in-place-switch", "Switch in place: cells that hold one bit get their other bits, and nothing is copied."),
  ],
};

function readOrder(answer: Answer): string {
  const [fresh, later] = readSpeeds(answer);
  const order = Math.abs(fresh / later - 1) < 0.05 ? "Both are the same" : fresh > later ? "Fresh is faster" : "Later is faster";
  return `Right after the write it is read at ${speed(fresh)}, after ten minutes of rest at ${speed(later)}. ${order}.`;
}

const readParadox: Story = {
  title: "Why are old files slower to read?",
  steps: [
    { drive: ROCKET, job: "read-paradox", text: (answer) => `We write a file, read it at random, wait ten minutes, and read it again. ${readOrder(answer)}`,
      question: { ask: "What happened meanwhile?", answer: (answer) => answer.curve.idle_folded_bytes.some((bytes) => bytes > 0) ? `The file was folded: cells with one bit are read sooner than cells with ${bits(answer)}.` : "Nothing was folded, so the file lies where it was written." } },
    { drive: ROCKET, knobs: { "cache.idle.threshold": "never" }, job: "read-paradox", text: (answer) => `A firmware that folds nothing in the pause. ${readOrder(answer)} A benchmark that reads what it has just written may measure the cache.` },
  ],
};

const spareSpace: Story = {
  title: "A full drive, and what spare space buys",
  steps: [
    { drive: "pm871b-128gb", job: "random", text: (answer) => `The drive is full, and we overwrite it at random, 4 KiB at a time. For each byte that we write, ${randomWriteAmplification(answer).toFixed(1)} go into cells: before a superblock can be erased, what is still valid in it is copied.` },
    { drive: "pm871b-128gb", knobs: { "nand.blocks_per_plane": "+25%" }, job: "random", text: (answer, [tight]) => {
      const now = randomWriteAmplification(answer);
      const fewer = tight === undefined || now < randomWriteAmplification(tight) ? "Spare space leaves less valid data in each superblock, so less is copied. A part of your drive left empty does the same." : "It does not help this drive.";
      return `With a quarter more cells behind the same capacity it is ${now.toFixed(1)}. ${fewer}`;
    } },
  ],
};

function hot(answer: Answer): string {
  const celsius = (Math.max(...answer.curve.temperature_millicelsius) / 1000).toFixed(0);
  const [fall] = fallsOfHeat(answer);
  if (throttledSeconds(answer) === 0) return `It reaches ${celsius} °C, below its limit. Every fall that you see is the cache.`;
  if (fall === undefined) return `It reaches ${celsius} °C and is held back for ${span(throttledSeconds(answer))}, but never below what its cells can do: the curve is that of the cache.`;
  return `It reaches ${celsius} °C. The fall at ${ofWhole(answer, fall[0].to_bytes)}, from ${spoken(fall[0])} to ${spoken(fall[1])}, is heat: the data still go the same way, only slower.`;
}

const heat: Story = {
  title: "Heat or cache?",
  steps: [
    { drive: "sn850-1tb", knobs: { "heat.board_to_air": "30K/W", "heat.ambient": "70C" }, job: "fill", text: (answer) => `A drive without a heat sink, in air of 70 °C, is filled. ${hot(answer)}`,
      question: { ask: "How do I tell heat from the cache?", answer: () => "Heat passes when the drive cools; a full cache stays full until the drive has folded it." } },
    { drive: "sn850-1tb", knobs: { "heat.board_to_air": "30K/W" }, job: "fill", text: (answer) => `The same drive in air of room temperature. ${hot(answer)}` },
    { drive: "sn850-1tb", knobs: { "heat.board_to_air": "2K/W" }, job: "fill", text: (answer) => `With a large heat sink. ${hot(answer)}` },
  ],
};

export const STORIES: Story[] = [whyItFalls, recovery, modes, firmwares, readParadox, spareSpace, heat];
