import type { ComponentChildren } from "preact";
import { switchEnvironment, viewAs } from "../../../core/accounts/sessions.ts";
import { listOwnCredentials } from "../../../core/credentials/own.ts";
import { findOwn } from "../../../core/find/find.ts";
import { laterBy } from "../../../core/kernel/calendar-day.ts";
import { civilDateAt } from "../../../core/kernel/civil-date.ts";
import { environments } from "../../../core/kernel/environment.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { type DayOfOrders, ordersByDay } from "../../../core/orders/by-day.ts";
import { listOrders } from "../../../core/orders/list.ts";
import { partnerById } from "../../../core/partners/partner.ts";
import { listExpiring } from "../../../core/passports/expiring.ts";
import { thresholdsOfPartner } from "../../../core/platform/partner-thresholds.ts";
import type { Read } from "../../../core/store/store.ts";
import { walletBalances } from "../../../core/wallet/balances.ts";
import { listWebhooks } from "../../../core/webhooks/list.ts";
import { Bars } from "../../parts/chart.tsx";
import type { Column } from "../../parts/list.tsx";
import { pageShown, table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { portalPage, sharedPage } from "../../session/page.ts";
import { choiceField, type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";
import { orderColumns } from "./orders.tsx";
import { Balances } from "./wallet.tsx";

async function seen(q: Read, { owner }: Pick<PortalVisit, "owner">) {
  const { data: orders } = await listOrders(q, { ...owner, limit: 8 });
  const { balances } = await walletBalances(q, owner.partnerId);
  const { data: credentials } = await listOwnCredentials(q, { owner, limit: 1 });
  const { data: inReview } = await listOrders(q, { ...owner, limit: 50, status: "waiting_review" });
  const { data: endpoints } = await listWebhooks(q, { owner, limit: 100 });
  const { low_wallet } = await thresholdsOfPartner(q, owner.partnerId);
  const failing = endpoints.filter(({ status, failing_since }) => status === "failed" || failing_since !== null);
  const low = balances.filter(({ currency, balance_cents }) => balance_cents < (low_wallet[currency] ?? 0));
  const isAgent = (await partnerById(q, owner.partnerId))?.agent === true;
  const expiring = isAgent ? (await listExpiring(q, { ...owner, limit: 50 })).rows : [];
  return { orders, balances, credentials, days: await ordersByDay(q, owner), inReview, failing, low, expiring };
}

type Seen = Awaited<ReturnType<typeof seen>>;

async function overview(visit: PortalVisit): Promise<Shown> {
  const found = await visit.store.list(seen, { owner: visit.owner });
  const { orders, balances, days } = found;
  const body = (
    <div data-live={`${visit.base}/live`}>
      {pointsShown(visit, "Needs attention", attentionOf(visit, found))}
      {pointsShown(visit, "First steps", firstStepsOf(visit, found))}
      {visit.may("wallet.read") && (
        <div class="cards">
          <Balances balances={balances} />
          {balances.length === 0 && (
            <div class="card">
              <h2>Balance</h2>
              <p>The wallet is empty. Sandbox orders cost nothing.</p>
            </div>
          )}
        </div>
      )}
      {visit.may("orders.read") && (
        <>
          {days.length > 0 && <Days visit={visit} days={days} />}
          {table(visit, { title: "Latest orders", rows: orders, empty: "No orders yet." }, orderColumns)}
        </>
      )}
    </div>
  );
  return pageShown(visit, "Overview", body);
}

/** A sentence with a link in it: what is before it, where it leads, its words, and what follows. */
type Point = readonly [before: string, path: string, words: string, after: string];

function pointsShown(visit: PortalVisit, title: string, points: readonly (Point | false)[]): ComponentChildren {
  const shown = points.filter((point) => point !== false);
  if (shown.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {shown.map(([before, path, words, after]) => (
          <li>
            {before}
            <a href={`${visit.base}${path}`}>{words}</a>
            {after}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** As many as were read, or that there may be more. */
function many({ length }: readonly unknown[]): string {
  return length < 50 ? `: ${length}.` : ": 50 or more.";
}

/** What a partner has to look after. */
function attentionOf({ may }: PortalVisit, { inReview, failing, low, expiring }: Seen): (Point | false)[] {
  const waits = may("orders.read") && inReview.length > 0;
  const fails = may("developers.read") && failing.length > 0;
  const expires = may("passports.read") && expiring.length > 0;
  const lows = may("wallet.read") ? low : [];
  return [
    waits && ["", "/orders?status=waiting_review", "Orders in review", many(inReview)],
    fails && ["", "/developers/webhooks", "Webhook endpoints that fail", `: ${failing.length}.`],
    expires && ["", "/passports?expires=soon", "Passports that expire within 60 days", many(expiring)],
    ...lows.map(({ currency }): Point => ["The ", "/wallet", "wallet", ` is low in ${currency}.`]),
  ];
}

/** What a new partner does first, until it is done. */
function firstStepsOf({ may }: PortalVisit, { credentials, orders }: Seen): (Point | false)[] {
  const [hasNone, isNew] = [may("developers.read") && credentials.length === 0, may("orders.write") && !orders.length];
  return [
    hasNone && ["", "/developers", "Make a sandbox credential", " for your program."],
    isNew && ["", "/orders", "Place a first order", "; in the sandbox it costs nothing."],
  ];
}

/** Orders and spend of the last 30 days. */
function Days({ visit, days }: { visit: PortalVisit; days: readonly DayOfOrders[] }) {
  const sum = (all: readonly DayOfOrders[], of: "spent_cents" | "orders") => all.reduce((so, one) => so + one[of], 0);
  const spent = Map.groupBy(days, ({ currency }) => currency);
  const byDay = Map.groupBy(days, ({ day }) => day);
  const today = civilDateAt(visit.context.clock.now());
  // Days without an order too.
  const dates = Array.from({ length: 30 }, (_, at) => laterBy(today, at - 29));
  return (
    <section>
      <h2>The last 30 days</h2>
      <p>
        Spend on orders: {[...spent].map(([currency, all]) => moneyWords(sum(all, "spent_cents"), currency)).join(", ")}
        , without failed and cancelled ones and refunds.
      </p>
      <Bars
        title="Orders a day"
        bars={dates.map((label) => ({ label, value: sum(byDay.get(label) ?? [], "orders") }))}
      />
    </section>
  );
}

async function switchTo(visit: PortalVisit): Promise<Shown> {
  const environment = choiceField(visit.form, "environment", environments);
  if (visit.viewing) throw new Problem("forbidden", "You look at this partner as staff: nothing can be changed.");
  if (environment === "production" && !visit.partner.production) {
    throw new Problem("production_not_enabled", "The operator has not opened production for you yet.");
  }
  await visit.store.write(switchEnvironment, { id: visit.session.id, environment });
  return { to: "", notice: `You are in the ${environment === "sandbox" ? "sandbox" : "production environment"} now.` };
}

/** Records that have pages, and what may see them. */
const places = {
  order: ["/orders/", "orders.read"],
  esim: ["/esims/", "esims.read"],
  activation: ["/activations/", "activations.read"],
  passport: ["/passports/", "passports.read"],
} as const;

type Found = Awaited<ReturnType<typeof findOwn>>["data"][number];

const foundColumns: readonly Column<Found>[] = [
  { title: "What", cell: (one) => one.kind },
  {
    title: "Name",
    cell: ({ kind, name, id }) => ({ text: name, to: places[kind][0] + (kind === "esim" ? name : id) }),
  },
  { title: "Status", cell: (one) => ({ status: one.status }) },
];

async function find(visit: PortalVisit): Promise<Shown> {
  const query = requiredField(visit.form, "what");
  const { data } = await visit.store.list(findOwn, { owner: visit.owner, query, esims: visit.may("esims.read") });
  const rows = data.filter(({ kind }) => visit.may(places[kind][1]));
  const empty = "Nothing of yours carries this name or number.";
  return pageShown(visit, "Found", table(visit, { caption: "What was found", rows, empty }, foundColumns));
}

export const overviewPages = [
  portalPage({ path: "", needs: "overview", show: overview }),
  portalPage({ path: "/environment", needs: "overview", act: switchTo }),
  portalPage({ path: "/find", needs: "overview", act: find }),
  ...sharedPage({
    path: "/view-as/end",
    needs: "session",
    async act(visit) {
      await visit.write(viewAs, { id: visit.session.id, partnerId: null });
      return { face: "console", to: "/partners" };
    },
  }),
];
