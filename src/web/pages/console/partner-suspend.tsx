import { listAudit } from "../../../core/audit/list.ts";
import { openWorkOf } from "../../../core/insight/open-work.ts";
import type { PartnerId } from "../../../core/kernel/brand.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { requirePartner } from "../../../core/partners/partner.ts";
import { resumePartner, suspendPartner } from "../../../core/partners/suspend.ts";
import type { Read } from "../../../core/store/store.ts";
import { actPage } from "../../parts/act-page.tsx";
import { timeWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, optionalField } from "../../session/visit.ts";
import { partnerPage } from "./partner.tsx";
import { slugOf } from "./partner-links.tsx";

async function seen(q: Read, asked: string) {
  const { id, slug, name, status, suspended_reason: reason } = await requirePartner(q, asked);
  const suspended = status === "suspended" ? { reason, since: await suspendedSince(q, id) } : null;
  return { slug, name, work: await openWorkOf(q, id), suspended };
}

const MOST_LINES = 100;

/** When a partner was suspended last; null: that is not among its newest lines of the audit trail. */
async function suspendedSince(q: Read, target: PartnerId): Promise<string | null> {
  const lines = await listAudit(q, { target, limit: MOST_LINES });
  return lines.find(({ action }) => action === "partners.suspend")?.at ?? null;
}

/** A partner that is not suspended yet: its reason is not replaced by a page that is out of date. Throws `conflict`. */
async function activeIn(visit: ConsoleVisit) {
  const partner = await ofPartner.read(visit);
  if (partner.suspended === null) return partner;
  const { since, reason } = partner.suspended;
  const words = [
    `${partner.slug} is suspended already${since === null ? "" : `, since ${timeWords(since, visit.zone)}`}`,
    reason ?? "no reason was given",
  ];
  throw new Problem("conflict", `${words.join(": ")}.`);
}

const ofPartner = {
  read: (visit: ConsoleVisit) => visit.store.read(seen, slugOf(visit)),
  at: ({ slug }: Awaited<ReturnType<typeof seen>>) => `/partners/${slug}`,
};

const reasonIn = ({ form }: ConsoleVisit) => optionalField(form, "reason") ?? null;

const suspending = actPage({
  ...{ at: ofPartner.at, read: activeIn },
  ...{ verb: "suspend", button: "Suspend the partner", bad: true, carried: ["reason"] },
  title: ({ name }) => `Suspend ${name}?`,
  command: suspendPartner,
  input: (visit, { slug }) => ({ slug, reason: reasonIn(visit) }),
  foresee: (_partner, { work: { orders, activations, people } }, visit) => (
    <>
      {reasonIn(visit) !== null && <p>Reason: {reasonIn(visit)}</p>}
      <ul>
        <li>Its tokens stop working at once, and its credentials get no new ones.</li>
        <li>
          {people === 0
            ? "No one is signed in to its portal, and no one can sign in."
            : `Signed out at once: ${people} of its people.`}
        </li>
        <li>
          {counted(orders, "open order")} and {counted(activations, "open activation")} in production go on, and so do
          its deliveries.
        </li>
      </ul>
    </>
  ),
  done: ({ slug }) => `${slug} is suspended. Its people are signed out.`,
});

const resuming = actPage({
  ...{ ...ofPartner, verb: "resume", button: "Resume the partner", command: resumePartner },
  title: ({ name }) => `Resume ${name}?`,
  input: (_visit, { slug }) => ({ slug }),
  foresee: () => <p>Its credentials work again, and its people can sign in again.</p>,
  done: ({ slug }) => `${slug} has its access back.`,
});

const act = { needs: "partners.write", again: partnerPage } as const;

export const partnerAccessPages = [
  consolePage({ ...act, path: "/partners/:slug/suspend", ...suspending }),
  consolePage({ ...act, path: "/partners/:slug/resume", ...resuming }),
];
