// What a drive can be asked on the page, as job files. Sizes are shares of the drive and pauses shrink with it, so that a
// scaled drive does the same: it has less to move in a pause.

export interface JobChoice {
  key: string;
  label: string;
  /** For a drive `denominator` times smaller. */
  text(denominator: number): string;
  /** What the horizontal axis shows. */
  axis: "bytes" | "time";
  /** Random access to the whole of a large drive takes more memory than a page has: a smaller copy answers. */
  smallOnly?: boolean;
}

const WRITE = "ioengine=io_uring\nrw=write\nbs=1m\niodepth=32\n";
/** A copy, which answers before the whole drive, is written in fewer requests: phases and speeds stay, and it takes less time. */
const writeOf = (denominator: number) => (denominator > 1 ? WRITE.replace("1m", "4m") : WRITE);

/** An odd place to go on from would cost the page a gigabyte: the map is kept in runs where writes begin as its chunks do. */
function writePauseWrite(pauseUs: number, denominator: number): string {
  const write = writeOf(denominator);
  const again = `[again]\nstonewall\npause=${Math.round(pauseUs / denominator)}us\n${write}offset=35%\noffset_align=256m\nsize=20%\n`;
  return `[fill]\n${write}size=35%\n${again}`;
}

const PAUSES_US: [string, string, number][] = [["30s", "30 s", 30e6], ["5min", "5 min", 300e6], ["1h", "an hour", 3600e6]];

export const JOBS: JobChoice[] = [
  { key: "fill", label: "Fill the whole drive", axis: "bytes", text: (denominator) => `[fill]\n${writeOf(denominator)}size=100%\n` },
  ...PAUSES_US.map(([key, words, pauseUs]): JobChoice => ({
    key: `pause-${key}`,
    label: `Write a third of it, pause ${words}, write on`,
    axis: "time",
    text: (denominator) => writePauseWrite(pauseUs, denominator),
  })),
  { key: "twice", label: "Fill the drive twice", axis: "bytes", text: (denominator) => `[fill]\n${writeOf(denominator)}size=100%\nloops=2\n` },
  {
    key: "random",
    smallOnly: true,
    label: "Fill it, then random writes of 4 KiB",
    axis: "bytes",
    text: () => `[fill]\n${WRITE}size=100%\n[random]\nstonewall\nioengine=io_uring\nrw=randwrite\nbs=4k\niodepth=32\nsize=100%\n`,
  },
  {
    key: "read-paradox",
    smallOnly: true,
    label: "Write, read it at random, pause, read it again",
    axis: "time",
    text: (denominator) =>
      `[write]\n${WRITE}size=5%\n[hot]\nstonewall\nrw=randread\nbs=4k\niodepth=1\nsize=5%\nruntime=2\ntime_based\n` +
      `[cold]\nstonewall\npause=${Math.round(600e6 / denominator)}us\nrw=randread\nbs=4k\niodepth=1\nsize=5%\nruntime=2\ntime_based\n`,
  },
];

export function jobOf(key: string): JobChoice {
  return JOBS.find((job) => job.key === key) ?? JOBS[0]!;
}
