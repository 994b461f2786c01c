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

function writePauseWrite(pauseUs: number): string {
  const again = `[again]\nstonewall\nstartdelay=${Math.round(pauseUs)}us\n${WRITE}offset=35%\nsize=20%\n`;
  return `[fill]\n${WRITE}size=35%\n${again}`;
}

export const JOBS: JobChoice[] = [
  { key: "fill", label: "Fill the whole drive", axis: "bytes", text: () => `[fill]\n${WRITE}size=100%\n` },
  {
    key: "pause-30s",
    label: "Write a third of it, pause 30 s, write on",
    axis: "time",
    text: (denominator) => writePauseWrite(30e6 / denominator),
  },
  {
    key: "pause-5min",
    label: "Write a third of it, pause 5 min, write on",
    axis: "time",
    text: (denominator) => writePauseWrite(300e6 / denominator),
  },
  { key: "twice", label: "Fill the drive twice", axis: "bytes", text: () => `[fill]\n${WRITE}size=100%\nloops=2\n` },
  {
    key: "random",
    smallOnly: true,
    label: "Fill it, then random writes of 4 KiB",
    axis: "bytes",
    text: () => `[fill]\n${WRITE}size=100%\n[random]\nstonewall\nioengine=io_uring\nrw=randwrite\nbs=4k\niodepth=32\nsize=100%\nio_size=150%\n`,
  },
  {
    key: "read-paradox",
    smallOnly: true,
    label: "Write, read it at random, pause, read it again",
    axis: "time",
    text: (denominator) =>
      `[write]\n${WRITE}size=5%\n[hot]\nstonewall\nrw=randread\nbs=4k\niodepth=1\nsize=5%\nruntime=2\ntime_based\n` +
      `[cold]\nstonewall\nstartdelay=${Math.round(600e6 / denominator)}us\nrw=randread\nbs=4k\niodepth=1\nsize=5%\nruntime=2\ntime_based\n`,
  },
];

export function jobOf(key: string): JobChoice {
  return JOBS.find((job) => job.key === key) ?? JOBS[0]!;
}
