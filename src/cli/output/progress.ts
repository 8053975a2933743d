import cliProgress from "cli-progress";
import type { Globals } from "../globals.ts";
import { showWaitsIn } from "./waiting.ts";

/** A bar on stderr, shown only to a person who wants to see it. */
export interface Progress {
  /** `total` null: not known yet; only what is done is shown. */
  show(label: string, done: number, total: number | null): void;
  stop(): void;
}

const COUNTING = "{label}: {value} rows, {rate} a second";
const MEASURING = "{label} {bar} {percentage}% | {value} of {total} rows | {rate} a second | {eta_formatted} left";

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
    const format = total === null ? COUNTING : MEASURING;
    const options = { format, stream: process.stderr, hideCursor: true, clearOnComplete: true };
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
