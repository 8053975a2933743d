import cliProgress from "cli-progress";
import type { Globals } from "../kernel/globals.ts";
import { showWaitsIn } from "./wait-counting.ts";

/** A bar on stderr, shown only to a person who wants to see it. */
export interface Progress {
  /** `total` null: not known yet; only what is done is shown. */
  show(label: string, done: number, total: number | null): void;
  stop(): void;
}

const COUNTING = "{label}: {value} | {rate}/s";
const MEASURING = "{percentage}% | {value} of {total} | {rate}/s | {eta_formatted} left";
/** What the words beside a bar take, and the sizes a bar may have. */
const WORDS = 58;
const SMALLEST = 8;
const LARGEST = 40;

/** How progress is drawn on a terminal of that width: where a bar would push its words off the screen, without one. */
export function progressLook(columns: number, total: number | null): { format: string; barsize: number } {
  const barsize = Math.min(LARGEST, columns - WORDS);
  if (total === null) return { format: COUNTING, barsize: 0 };
  if (barsize < SMALLEST) return { format: `{label} ${MEASURING}`, barsize: 0 };
  return { format: `{label} {bar} ${MEASURING}`, barsize };
}

/** A progress bar; one that shows nothing without a terminal, with --quiet and with --json. */
export function startProgress({ quiet, json }: Pick<Globals, "quiet" | "json">): Progress {
  if (quiet || json || process.stderr.isTTY !== true) return { show: () => undefined, stop: () => undefined };
  let bar: cliProgress.SingleBar | null = null;
  let current = "";
  let began = 0;
  const waits = showWaitsIn((words) => bar?.update({ label: words ?? current }));
  const clear = () => {
    bar?.stop();
    bar = null;
  };
  const stop = () => {
    clear();
    waits();
  };
  const begin = (label: string, total: number | null) => {
    clear();
    const look = progressLook(process.stderr.columns ?? 80, total);
    const options = { ...look, stream: process.stderr, hideCursor: true, clearOnComplete: true };
    const fresh = new cliProgress.SingleBar(options, cliProgress.Presets.shades_classic);
    fresh.start(total ?? 0, 0, { label, rate: 0 });
    current = label;
    began = performance.now();
    return fresh;
  };
  return {
    stop,
    show(label, done, total) {
      if (bar === null || current !== label) bar = begin(label, total);
      const seconds = (performance.now() - began) / 1000;
      bar.update(done, { rate: seconds > 0 ? Math.round(done / seconds) : done });
    },
  };
}
