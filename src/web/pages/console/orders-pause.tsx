import type { ComponentChildren } from "preact";
import { recentRates } from "../../../core/insight/rates.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { pauseOrders, resumeOrders } from "../../../core/orders/pause.ts";
import { pauseWords } from "../../../core/orders/pause-words.ts";
import { currentPauses, type Pause } from "../../../core/platform/pauses.ts";
import type { Read } from "../../../core/store/store.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { links } from "../../parts/shown.tsx";
import { timeWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, requiredField } from "../../session/visit.ts";

/** "New orders are paused since 2 Mar 2026, 01:00: maintenance". */
export function pausedWords({ kind, name, reason, since }: Pause, zone: string): string {
  const what = kind === "orders" ? "New orders are paused" : `New orders from supplier ${name} are paused`;
  return `${what} since ${timeWords(since, zone)}: ${reason}`;
}

/** Whether new orders are accepted, and where that is changed. */
export async function pauseShown(visit: ConsoleVisit): Promise<ComponentChildren> {
  const pause = pauseIn(await visit.store.read(currentPauses, null));
  const acts: [string, string][] = [["/orders/pause", pause === null ? "Pause new orders" : "Give another reason"]];
  if (pause !== null) acts.unshift(["/orders/resume", "Accept new orders again"]);
  return [
    pause !== null && (
      <div class="alert bad">
        <p>{pausedWords(pause, visit.zone)}</p>
      </div>
    ),
    visit.may("orders.pause") && <div class="acts">{links(visit, acts)}</div>,
  ];
}

function pauseIn(pauses: readonly Pause[]): Pause | null {
  return pauses.find(({ kind }) => kind === "orders") ?? null;
}

async function seen(q: Read) {
  const pauses = await currentPauses(q);
  const suppliers = pauses.filter(({ kind }) => kind === "supplier").map(({ name }) => name);
  return { pause: pauseIn(pauses), suppliers, lastHour: (await recentRates(q)).orders.total };
}

const ofOrders = { read: ({ store }: ConsoleVisit) => store.read(seen, null), at: () => "/orders" };

const reason: FieldOf = {
  ...{ name: "reason", label: "Reason", required: true },
  hint: "At most 200 characters; partners read it.",
};

const pausing = actPage({
  ...{ ...ofOrders, verb: "pause", button: "Refuse new orders", bad: true, fields: [reason], command: pauseOrders },
  title: ({ pause }) => (pause === null ? "Pause new orders" : "Give another reason for the pause"),
  input: ({ form }) => ({ reason: requiredField(form, "reason") }),
  foresee: (paused, { pause, lastHour }, { zone }) => [
    <p>{pauseWords.pause}</p>,
    <p>Partners read: {paused?.reason}</p>,
    <p>
      {pause === null
        ? `${counted(lastHour, "order")} came in the last hour.`
        : `${pausedWords(pause, zone)}. Only the reason changes.`}
    </p>,
  ],
  done: () => "New orders are refused.",
});

const resuming = actPage({
  ...{ ...ofOrders, verb: "resume", button: "Accept new orders again", fields: [], command: resumeOrders },
  title: () => "Accept new orders again?",
  input: () => ({}),
  foresee: (_none, { pause, suppliers }, { zone }) => [
    <p>{pause === null ? "No pause is on: nothing changes." : `${pausedWords(pause, zone)}.`}</p>,
    <p>{pauseWords.resume}</p>,
    suppliers.length > 0 && <p>Paused: {suppliers.join(", ")}.</p>,
  ],
  done: () => "New orders are accepted.",
});

/** Whether any new order is accepted: the operator's brake, with what comes of it before. */
export const ordersPausePages = [
  consolePage({ path: "/orders/pause", needs: "orders.pause", ...pausing }),
  consolePage({ path: "/orders/resume", needs: "orders.pause", ...resuming }),
];
