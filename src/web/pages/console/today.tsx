import type { ComponentChildren } from "preact";
import type { ConsolePermission } from "../../../core/accounts/roles.ts";
import type { Rate } from "../../../core/insight/rates.ts";
import { type PlatformStatus, platformStatus } from "../../../core/insight/status.ts";
import { isoTime } from "../../../core/kernel/clock.ts";
import { Bars } from "../../parts/chart.tsx";
import { pageShown, table } from "../../parts/shown.tsx";
import { type Cell, timeWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { pausedWords } from "./orders-pause.tsx";
import { attention } from "./today-attention.tsx";

interface Place {
  words: string;
  needs: ConsolePermission;
  /** Where the work is done, under the console's base, or on this page. */
  at: string;
}

const place = (words: string, needs: ConsolePermission, at: string): Place => ({ words, needs, at });

/** What waits for staff, by queue. */
const work: Readonly<Record<string, Place>> = {
  orders_review: place("Orders to review", "orders.read", "/orders?status=waiting_review"),
  orders_to_ship: place("Orders to ship", "orders.read", "/orders?waiting=shipping"),
  activations_manual: place("Activations by hand", "activations.read", "/activations?waiting=staff"),
  passports_unverified: place("Passports to verify", "passports.read", "/passports?verification=pending"),
  funding_requests: place("Payments to credit", "money.read", "/money?status=requested"),
  topups_stuck: place("Top-ups to decide", "money.read", "/money/topups"),
  deliveries_held: place("Webhooks held back", "partners.read", "/deliveries?status=failed"),
  products_held: place("Products held for their margin", "catalog.read", "#held"),
};

/** What workers, suppliers and carriers have, by queue. */
const elsewhere: Readonly<Record<string, string>> = {
  orders_due: "Orders due",
  items_due: "Supplies due",
  items_at_supplier: "At suppliers",
  topups_due: "Top-ups due",
  activations_at_carrier: "Activations at carriers",
  refunds_requested: "Refunds requested of suppliers",
  deliveries_pending: "Webhooks to send",
};

async function today(visit: ConsoleVisit): Promise<Shown> {
  const status = await visit.store.read(platformStatus, null);
  const { at, orders, requests, webhook_tries } = status;
  const under = status.queues.filter(({ queue }) => queue in elsewhere);
  const body = (
    <>
      {wrongNow(visit, status)}
      {waiting(visit, status)}
      <div class="cards">
        {lastHour(visit, "Orders", orders, at)}
        {lastHour(visit, "Requests", requests, at)}
        {lastHour(visit, "Webhooks sent", webhook_tries, at)}
      </div>
      {attention(visit, status)}
      {table(visit, { title: "Under way", caption: "What workers, suppliers and carriers have", rows: under }, [
        { title: "Queue", cell: ({ queue }) => elsewhere[queue] ?? queue },
        { title: "Has it", cell: (one) => one.waits_for },
        { title: "Waiting", right: true, cell: (one) => one.waiting },
        { title: "Oldest", cell: (one) => ({ time: one.oldest_at }) },
      ])}
    </>
  );
  return pageShown(visit, "Today", body);
}

/** What is wrong with the platform itself. */
function wrongNow(visit: ConsoleVisit, { paused, requests }: PlatformStatus): ComponentChildren {
  const notes: ComponentChildren[] = paused.map((pause) => {
    const { kind, name } = pause;
    const words = pausedWords(pause, visit.zone);
    const to = kind === "orders" ? "/orders/resume" : `/suppliers/${encodeURIComponent(name)}`;
    if (!visit.may(kind === "orders" ? "orders.pause" : "suppliers.write")) return words;
    return [`${words} `, <a href={`${visit.base}${to}`}>Accept them again</a>];
  });
  if (requests.failed > 0) notes.push(`${requests.failed} of the requests of the last hour failed on our side.`);
  if (notes.length === 0) return null;
  return (
    <div class="alert bad">
      {notes.map((words) => (
        <p>{words}</p>
      ))}
    </div>
  );
}

/** The work of people, the longest waiting first. */
function waiting(visit: ConsoleVisit, { queues }: PlatformStatus): ComponentChildren {
  const rows = queues
    .flatMap((queue) => {
      const place = work[queue.queue];
      return place === undefined || queue.waiting === 0 || !visit.may(place.needs) ? [] : [{ ...queue, ...place }];
    })
    .sort((a, b) => ((a.oldest_at ?? "") < (b.oldest_at ?? "") ? -1 : 1));
  const nameOf = ({ words, at }: Place): Cell => ({
    text: words,
    href: at.startsWith("#") ? at : `${visit.base}${at}`,
  });
  return table(visit, { title: "Waiting for you", rows, empty: "Nothing waits for a person." }, [
    { title: "Work", cell: (one) => nameOf(one) },
    { title: "Waiting", right: true, cell: (one) => one.waiting },
    { title: "Oldest", cell: (one) => ({ time: one.oldest_at }) },
  ]);
}

const MINUTE_MS = 60_000;

function lastHour({ zone }: ConsoleVisit, title: string, { per_minute, total }: Rate, at: string): ComponentChildren {
  const first = Math.floor(Date.parse(at) / MINUTE_MS) - per_minute.length + 1;
  const bars = per_minute.map((value, minute) => {
    const words = timeWords(isoTime((first + minute) * MINUTE_MS), zone);
    return { label: words.split(", ").at(-1) ?? words, value };
  });
  return (
    <div class="card">
      <Bars title={`${title} of the last hour: ${total}`} bars={bars} />
    </div>
  );
}

export const todayPages = [consolePage({ path: "", needs: "today", show: today })];
