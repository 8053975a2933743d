import type { DeliveryId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { endpointsWithFailed, type FailedAt, MOST_COUNTED } from "../../../core/webhooks/failed-deliveries.ts";
import { AGAIN, onTheWay } from "../../../core/webhooks/on-the-way.ts";
import { replayAll, replayStep } from "../../../core/webhooks/redeliver.ts";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { table } from "../../parts/shown.tsx";
import { type ConsoleVisit, field, optionalField, type Shown } from "../../session/visit.ts";
import { overAll } from "./all-partners.ts";

/** The fields that narrow what is sent again. */
export const narrowing = ["partner", "endpoint", "since", "until"] as const;

/** Endpoints that the consequence names. */
const MOST_NAMED = 50;

/** Sends again what was held or exhausted of what the form narrows, endpoint by endpoint, once that was seen. */
export async function sendAllAgain(visit: ConsoleVisit): Promise<Shown> {
  const { form, store, progress } = visit;
  const { environment: _, partnerId, ...span } = await overAll(visit);
  const asked = { ...span, partnerId, endpointId: optionalField(form, "endpoint") };
  const failed = await store.read(endpointsWithFailed, asked);
  const open = failed.filter(({ status }) => status === "active");
  const to = listOf(visit);
  if (failed.length === 0) return { to, notice: "Nothing that failed fits, or nothing is left of it to send." };
  if (open.length === 0) {
    return { to, notice: "Nothing is sent: its endpoints are stopped, and take nothing until they are enabled." };
  }
  if (!isConfirmed(visit)) return preview(visit, failed);
  let count = 0;
  for (const [at, { id: endpointId }] of open.entries()) {
    await progress.say(at, open.length);
    const input = { endpointId, since: span.since ?? 0, until: span.until };
    count += await replayAll((after: DeliveryId | null) => visit.write(replayStep, { ...input, after }));
  }
  return { to, notice: onTheWay(count) };
}

/** The list that the form came from, narrowed as it was. */
function listOf({ form }: ConsoleVisit): string {
  const kept = narrowing.flatMap((name) => (field(form, name) === "" ? [] : [[name, field(form, name)]]));
  return `/deliveries?${new URLSearchParams([...kept, ["status", "failed"]])}`;
}

function preview(visit: ConsoleVisit, failed: readonly FailedAt[]): Shown {
  return consequenceShown(visit, {
    ...{ title: "Send again what failed?", act: "Send again", carried: narrowing, slow: true },
    ...{ to: "/deliveries/redeliver", back: listOf(visit) },
    children: [
      <p>{`What was held or exhausted is sent oldest first, each ${AGAIN}.`}</p>,
      <p>Events whose body was cleared with the personal data in it are left out.</p>,
      table(visit, { caption: "What failed, by endpoint", rows: failed.slice(0, MOST_NAMED) }, [
        { title: "Partner", cell: (one) => `${one.partner}${one.environment === "sandbox" ? " (sandbox)" : ""}` },
        { title: "Endpoint", cell: (one) => one.url },
        { title: "Deliveries", right: true, cell: ({ count }) => (count < MOST_COUNTED ? count : `${count} or more`) },
        { title: "Then", cell: ({ status }) => (status === "active" ? "sent again" : `nothing: it is ${status}`) },
      ]),
      failed.length > MOST_NAMED && <p>{`And ${counted(failed.length - MOST_NAMED, "more endpoint")}.`}</p>,
    ],
  });
}
