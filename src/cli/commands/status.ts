import type { CronRun } from "../../core/insight/cron-runs.ts";
import type { Queue } from "../../core/insight/queues.ts";
import type { CurrentStatus, PlatformStatus } from "../../core/insight/status.ts";
import { isClockOff } from "../../core/platform/clock-difference.ts";
import type { Pause } from "../../core/platform/pauses.ts";
import type { ServingNode } from "../../core/platform/serving.ts";
import { type Context, command } from "../frame/command.ts";
import { usageError } from "../kernel/errors.ts";
import { flag } from "../kernel/input.ts";
import { clean } from "../output/clean.ts";
import { outagesText } from "../output/outages-text.ts";
import type { Sheet } from "../output/sheet.ts";
import { ago, moment } from "../output/words.ts";
import { attention } from "./status-attention.ts";

const EVERY_MS = 2_000;
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

export default command({
  target: "operator",
  shows: "record",
  effects: "Reads only. --watch draws it again every 2 seconds, until q or Ctrl-C; both end it with exit code 0.",
  json:
    "{at, writes_held_ms (null: no other session holds up writes), serving: {serving, since, nodes: [{url, since, " +
    "last_seen_at, state (serving | stopped | lost), clock_ahead_ms (null: not compared yet), runs_cron, sends_mail, " +
    "replica: {state (used | behind | away | foreign), lag_ms} or null}]}, " +
    "outages: [{kind (supplier | carrier), name, since, last_at, failures, last_error, next_attempt_at, waiting}], " +
    "suppliers: [{name, circuit (closed | open | half_open), since, reason}], " +
    "paused: [{kind (orders | supplier), name, reason, since}], " +
    "requests: {total, per_minute, failed}, orders: {total, per_minute}, webhook_tries, queues: [{queue, waits_for " +
    "(daemon | staff | supplier | carrier), waiting, oldest_at}], waiting: [{for, act, on, since, waiting}], " +
    "cron_runs: [{job, started_at, took_ms, done, error}], failing_endpoints, low_stock, low_wallets, " +
    "held_products: [{id, sku, supplier, price_cents, currency, cost, cost_currency, since}], " +
    "open_refunds: [{id, iccid, partner, supplier, reference, since}]}; per_minute: " +
    "the last 60, oldest first; failed: answered with 5xx",
  examples: ["status", "status --watch --data /var/lib/esimctl", "status --json"],
  args: {},
  options: { watch: flag("--watch", "draw it again every 2 seconds, until q or Ctrl-C") },
  async run(context, { watch }) {
    const [{ currentStatus }, { withoutDaemon }] = await Promise.all([
      import("../../core/insight/status.ts"),
      import("../../core/platform/serving.ts"),
    ]);
    const isGone = await lockTeller(context);
    return context.withStore(async ({ store }) => {
      const look = async () => {
        const seen = await currentStatus(store);
        return isGone() ? { ...seen, serving: withoutDaemon(seen.serving) } : seen;
      };
      if (watch) {
        await watchStatus(context, look);
        return null;
      }
      const seen = await look();
      return { json: seen, text: (sheet) => screen(sheet, seen) };
    });
  },
});

/** Whether the lock of the data directory says that no daemon runs; of a database server nothing says so at once. */
async function lockTeller(context: Context): Promise<() => boolean> {
  const place = await context.place();
  if (place.kind !== "directory") return () => false;
  const { isServed } = await import("../../core/platform/data-directory.ts");
  return () => !isServed(place.path);
}

async function watchStatus({ globals }: Context, look: () => Promise<CurrentStatus>): Promise<void> {
  if (globals.json || globals.shape !== null || process.stdout.isTTY !== true || process.stdin.isTTY !== true) {
    throw usageError("--watch draws on a terminal.", "Leave it out: status alone prints what it sees once.");
  }
  const [{ showLive }, { makeSheet }] = await Promise.all([
    import("../output/live-screen.ts"),
    import("../output/make-sheet.ts"),
  ]);
  await showLive(EVERY_MS, async () => screen(makeSheet(process.stdout, globals), await look()));
}

const names: Readonly<Record<string, string>> = {
  orders_due: "orders due",
  orders_review: "orders in review",
  orders_to_ship: "orders to ship",
  items_due: "supplies due",
  items_at_supplier: "at suppliers",
  topups_due: "top-ups due",
  topups_stuck: "top-ups to decide",
  activations_at_carrier: "activations at carriers",
  activations_manual: "activations for you",
  deliveries_pending: "webhooks to send",
  deliveries_held: "webhooks held",
  passports_unverified: "passports to verify",
  funding_requests: "payments to credit",
  refunds_requested: "refunds requested",
  products_held: "products held",
};

/** Queues in which rarely anything waits: empty, they are not on the screen. */
const rare: readonly string[] = ["refunds_requested", "products_held"];

function screen(sheet: Sheet, seen: CurrentStatus): string {
  const { paint } = sheet;
  const minutes = Math.max(10, Math.min(60, sheet.width - 42));
  const rate = (title: string, { total, per_minute }: PlatformStatus["orders"]) => {
    const chart = paint.cyan(spark(per_minute.slice(-minutes)));
    return `${title.padEnd(14)} ${chart} ${total} an hour, ${per_minute.at(-2) ?? 0} a minute`;
  };
  const queues = sheet.table<Queue>(
    [
      { title: "queue", value: ({ queue }) => names[queue] ?? queue },
      { title: "for", value: ({ waits_for }) => (waits_for === "staff" ? "you" : waits_for) },
      { title: "waiting", value: ({ waiting }) => waiting, align: "right" },
      {
        title: "oldest",
        value: ({ oldest_at }) => (oldest_at === null ? null : ago(oldest_at, seen.at)),
        paint: (on, queue) => agePaint(on, queue, seen.at),
      },
    ],
    seen.queues.filter(({ queue, waiting }) => waiting > 0 || !rare.includes(queue)),
    "",
  );
  const { failed } = seen.requests;
  const rates = [
    rate("requests", seen.requests) + (failed === 0 ? "" : paint.red(`, ${failed} failed`)),
    rate("orders", seen.orders),
    rate("webhooks sent", seen.webhook_tries),
  ].join("\n");
  // The least urgent last: a low terminal has no room for it, and says so.
  const head = `${paint.bold(moment(seen.at))}  ${servingWords(sheet, seen)}${heldWords(sheet, seen)}`;
  const outages = seen.outages.length === 0 ? [] : [outagesText(sheet, seen.outages, seen.at)];
  const paused = seen.paused.length === 0 ? [] : [pausesText(sheet, seen.paused)];
  return [
    head,
    rates,
    ...paused,
    ...outages,
    ...circuitsText(sheet, seen),
    queues,
    ...peoplesWork(sheet, seen),
    ...attention(sheet, seen),
    cronRuns(sheet, seen),
  ].join("\n\n");
}

/** What waits for people, by the act that ends it; nothing where nothing does. */
function peoplesWork(sheet: Sheet, { waiting, at }: PlatformStatus): string[] {
  if (waiting.length === 0) return [];
  const table = sheet.table(
    [
      { title: "waiting for", value: (one) => one.for },
      { title: "act", value: (one) => one.act },
      { title: "on", value: (one) => one.on },
      { title: "how many", value: (one) => one.waiting, align: "right" },
      { title: "since", value: (one) => `${moment(one.since)} (${ago(one.since, at).replace(/ ago$/, "")})` },
    ],
    waiting,
    "",
  );
  return [table];
}

/** Whether it is served, and since when. */
function servingWords({ paint }: Sheet, { serving: { serving, since, nodes }, at }: PlatformStatus): string {
  if (since === null) return paint.yellow("not served yet: esimctl serve");
  if (!serving) {
    const how = nodes.some(({ state }) => state === "lost") ? "ended without a stop" : "stopped";
    return paint.red(`not serving, ${how} ${ago(since, at)}: esimctl serve`) + clockWords(paint, nodes);
  }
  const live = nodes.filter(({ state }) => state === "serving");
  const words = paint.green(`serving at ${live.map(({ url }) => url).join(", ")} since ${moment(since)}`);
  return `${words}${clockWords(paint, nodes)}${replicaWords(paint, live)}`;
}

/** Nodes whose clock is off. One whose clock is far behind looks lost: the times it records are its own. */
function clockWords(paint: Sheet["paint"], nodes: readonly ServingNode[]): string {
  const off = nodes.filter(({ state, clock_ahead_ms }) => state !== "stopped" && isClockOff(clock_ahead_ms));
  return off.length === 0
    ? ""
    : `  ${paint.red(`clock off at ${off.map(({ url }) => url).join(", ")}: esimctl doctor`)}`;
}

/** A line where another session holds up writes. */
function heldWords({ paint }: Sheet, { writes_held_ms: heldMs }: CurrentStatus): string {
  if (heldMs === null) return "";
  return `\n${paint.red(`writes held up by another session for ${Math.round(heldMs / 1_000)} s: esimctl doctor`)}`;
}

/** How replicas follow, by the furthest behind; nothing where none is read from. */
function replicaWords(paint: Sheet["paint"], nodes: readonly ServingNode[]): string {
  const replicas = nodes.flatMap(({ replica }) => replica ?? []);
  if (replicas.length === 0) return "";
  const unused = replicas.find(({ state }) => state !== "used");
  if (unused !== undefined) return `  ${paint.red(`replica ${unused.state}: esimctl doctor`)}`;
  return `  replica ${Math.max(...replicas.map(({ lag_ms }) => lag_ms ?? 0))} ms behind`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** From which age on a queue is late, and very late (ms). */
const lateAfter: Readonly<Record<Queue["waits_for"], readonly [late: number, veryLate: number]>> = {
  daemon: [MINUTE_MS, 10 * MINUTE_MS],
  staff: [4 * HOUR_MS, 24 * HOUR_MS],
  supplier: [4 * HOUR_MS, 24 * HOUR_MS],
  carrier: [4 * HOUR_MS, 24 * HOUR_MS],
};

function agePaint({ paint }: Sheet, { waits_for, oldest_at }: Queue, now: string): (text: string) => string {
  if (oldest_at === null) return paint.reset;
  const [late, veryLate] = lateAfter[waits_for];
  const age = Date.parse(now) - Date.parse(oldest_at);
  if (age >= veryLate) return paint.red;
  return age >= late ? paint.yellow : paint.green;
}

const jobs: Readonly<Record<string, readonly [name: string, did: string]>> = {
  activation_calendar: ["activation calendar", "due"],
  esim_expiry: ["eSIM expiry", "expired"],
  esim_notices: ["eSIM expiry notices", "due"],
  passport_notices: ["passport notices", "sent"],
  head_signing: ["signing of chains", "signed"],
  sandbox_retention: ["sandbox retention", "purged"],
  webhook_retention: ["webhook retention", "dropped"],
};

/** The last run of each cron job, and its outcome. */
function cronRuns(sheet: Sheet, { cron_runs, at }: PlatformStatus): string {
  return sheet.table<CronRun>(
    [
      { title: "cron", value: ({ job }) => jobs[job]?.[0] ?? job },
      { title: "last run", value: ({ started_at }) => ago(started_at, at) },
      { title: "took", value: ({ took_ms }) => `${took_ms} ms`, align: "right" },
      {
        title: "result",
        value: ({ job, done, error }) => error ?? `${done} ${jobs[job]?.[1] ?? "done"}`,
        paint: ({ paint }, { error }) => (error === null ? paint.reset : paint.red),
        wraps: true,
      },
    ],
    cron_runs,
    "No cron job has run yet: esimctl serve runs them.",
  );
}

/** A small chart of one line: a bar a value, the highest as high as a line; a dot where there is nothing. */
function spark(values: readonly number[]): string {
  const most = Math.max(...values, 1);
  return values.map((value) => (value === 0 ? "·" : BARS[Math.ceil((value / most) * BARS.length) - 1])).join("");
}

/** Suppliers that are not asked for more, and why. */
function circuitsText({ paint }: Sheet, { suppliers, at }: PlatformStatus): string[] {
  const lines = suppliers.flatMap(({ name, circuit, since, reason }) => {
    if (circuit === "closed") return [];
    const what = circuit === "open" ? "Nothing is bought from" : "One unit is bought to prove";
    const when = since === null ? "" : ` since ${moment(since)} (${ago(since, at)})`;
    return [paint.red(`${what} ${name}${when}: ${clean(reason ?? "it failed")}`)];
  });
  return lines.length === 0 ? [] : [lines.join("\n")];
}

/** What is paused, why, and how to end it: a line each. */
function pausesText({ paint }: Sheet, pauses: readonly Pause[]): string {
  const lines = pauses.map(({ kind, name, reason, since }) => {
    const what = kind === "orders" ? "New orders are paused" : `New orders from supplier ${name} are paused`;
    const end = kind === "orders" ? "esimctl orders resume" : `esimctl suppliers resume ${name}`;
    return paint.yellow(`${what} since ${moment(since)}: ${clean(reason)} (end it: ${end})`);
  });
  return lines.join("\n");
}
