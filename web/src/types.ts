// What the page's data (python/pslc/lab/page_data.py) and the simulator's answers (crates/web) hold.

export interface Knob {
  key: string;
  group: string;
  label: string;
  value: string;
  is_slider: boolean;
  stops: string[];
  pairs: Record<string, [string, string][]>;
  idle: string;
}

export interface Figure {
  what: string;
  measure: string;
  value: number;
  fitted: boolean;
}

export interface DriveData {
  slug: string;
  name: string;
  capacity_bytes: number;
  profile: string;
  pages_per_block: number;
  bits_per_cell: number;
  /** In which its line was announced; null where that is not known. */
  year: number | null;
  source: string;
  figures: Figure[];
  knobs: Knob[];
  fill: Fill;
  recovery: Recovery;
}

/** Seconds: after which rest its cache is back, and the longest that gave nothing; both null without a cache. */
export interface Recovery {
  rest_s: number | null;
  tried_s: number | null;
  /** A pause was as long; else it is extrapolated. */
  is_shown: boolean;
}

/** A fill of the drive as sold, computed when the page was built. */
export interface Fill {
  /** Where each phase ends, in bytes, and its bytes a second. */
  phases: [number, number][];
  cache_bytes: number | null;
  cached_bytes_per_s: number | null;
  past_bytes_per_s: number | null;
  mean_bytes_per_s: number;
  link: string;
  link_bytes_per_s: number;
  map: string;
  idle_s: number | null;
  /** What a run says of a drive that its parts alone decide; else empty. */
  predicted: string;
  /** What drives of such parts lie between: bytes written, and from there on median, low and high speed. */
  band: [number, number, number, number][];
}

/** A die or a controller as `crates/ssd/src/parts` takes it. */
export interface PartData {
  label: string;
  part: Record<string, unknown>;
}

export interface PartsData {
  nands: Record<string, PartData>;
  controllers: Record<string, PartData>;
  start: { nand: string; controller: string; capacity: string };
}

/** A drive, what is changed on it, and what it is asked to do; `library` and `parts` are what profiles may stand on. */
export interface Question {
  profile: string;
  name: string;
  library: Record<string, string>;
  parts: Record<string, string>;
  overrides: [string, string][];
  job: string;
  denominator: number;
}

/** Bytes are those of each bin, times and states those at its end. */
export interface Curve {
  end_ns: number[];
  write_bytes: number[];
  read_bytes: number[];
  to_slc_bytes: number[];
  to_native_bytes: number[];
  folded_bytes: number[];
  idle_folded_bytes: number[];
  collected_bytes: number[];
  cache_bytes: number[];
  temperature_millicelsius: number[];
  throttle_level: number[];
}

export type Cause =
  | "pslc" | "direct" | "native" | "fold" | "gc" | "erase" | "read" | "map" | "link" | "controller" | "thermal" | "power"
  | "flush" | "host" | "cpu" | "page-cache" | "unknown";

export interface Phase {
  cause: Cause;
  /** Share of the time of requests that went to the cause. */
  confidence: number;
  from_bytes: number;
  to_bytes: number;
  from_ns: number;
  to_ns: number;
  bytes_per_s: number;
}

export interface DriveFacts {
  name: string;
  capacity_bytes: number;
  cache_bytes: number;
  cache_mode: string;
  when_full: string;
  bits_per_cell: number;
  superblocks: number;
  link_write_bytes_per_s: number;
}

export interface Answer {
  drive: DriveFacts;
  denominator: number;
  curve: Curve;
  over_time: Curve;
  start_ns: number;
  end_ns: number;
  phases: Phase[];
  counters: Record<string, number>;
  counters_before: Record<string, number>;
  film: { at_ns: number; moved_bytes: number }[];
  notes: string[];
  interrupted: string | null;
  /** A byte a superblock and picture, one picture behind the other. */
  pictures: Uint8Array;
}

/** A measured curve: bytes written and bytes per second. */
export interface Measured {
  label: string;
  points: { x: number; y: number }[];
}

export interface Failure {
  message: string;
  hint: string;
}
