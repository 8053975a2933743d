import type { ComponentChildren } from "preact";
import { payloadHash } from "../../../core/kernel/canonical.ts";
import { createTopup, type NewTopup } from "../../../core/topups/create.ts";
import { fittingProducts } from "../../../core/topups/fitting.ts";
import { atPartnerPrices } from "../../../core/topups/offers.ts";
import { listTopups, type Topup } from "../../../core/topups/topup.ts";
import { topupOffersOf } from "../../../daemon/routes/topup-offers.ts";
import { formShown } from "../../parts/act-form.tsx";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { KEY_FIELD } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { backLink, links, pageShown, table } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { portalPage } from "../../session/page.ts";
import { integerField, type PortalVisit, partIn, requiredField, type Shown } from "../../session/visit.ts";
import { asNotFound } from "./own-pages.ts";

/** The newest ones that the page of an eSIM has. */
const MOST_TOPUPS = 20;

const columns: readonly Column<Topup>[] = [
  { title: "Product", cell: (one) => one.product_sku },
  { title: "Price", right: true, cell: (one) => ({ money: one.price_cents, currency: one.currency }) },
  { title: "Status", cell: (one) => ({ status: one.status }) },
  { title: "Asked for", cell: (one) => ({ time: one.created_at }) },
  { title: "On the eSIM", cell: (one) => ({ time: one.applied_at }) },
  { title: "Why not", cell: (one) => one.failure_reason },
];

/** The top-ups of an own eSIM, with the way to another one. */
export async function topupsShown(visit: PortalVisit, iccid: string): Promise<ComponentChildren> {
  const { data: rows } = await visit.store.list(listTopups, { ...visit.owner, iccid, limit: MOST_TOPUPS });
  const way = visit.may("orders.write") && links(visit, [[`/esims/${iccid}/topup`, "Top it up"]]);
  if (rows.length === 0 && !way) return null;
  return (
    <section>
      <h2>Top-ups</h2>
      {table(visit, { caption: "Top-ups of the eSIM, newest first", rows }, columns)}
      {way}
    </section>
  );
}

const pathOf = (iccid: string) => `/esims/${iccid}`;

/** What the eSIM can be topped up with: its supplier is asked, where it has one. */
async function choosePage(visit: PortalVisit): Promise<Shown> {
  const { store, owner, context } = visit;
  const iccid = partIn(visit, "iccid");
  const fitting = await store.read(fittingProducts, { ...owner, iccid });
  const products = await topupOffersOf(context).products(fitting);
  const priced = await store.read(atPartnerPrices, { partnerId: owner.partnerId, products });
  const options = priced.map(
    ({ id, name, price_cents, currency }) => [id, `${name}, ${moneyWords(price_cents, currency)}`] as const,
  );
  const form = formShown(visit, {
    ...{ to: `${pathOf(iccid)}/topup`, submit: "Show what comes of it", back: pathOf(iccid) },
    fields: [{ name: "product", label: "Product", options, required: true }],
  });
  const none = [<p class="empty">Nothing can be put on this eSIM.</p>, backLink(visit, pathOf(iccid), "The eSIM")];
  return pageShown(visit, `Top up eSIM ${iccid}`, options.length === 0 ? none : <section>{form}</section>);
}

/** Shows what the chosen product costs, and buys it once that was seen: for no more than that. */
async function topUp(visit: PortalVisit): Promise<Shown> {
  const { form, owner, context } = visit;
  const [iccid, productId] = [partIn(visit, "iccid"), requiredField(form, "product")];
  const confirmed = isConfirmed(visit);
  const asked: NewTopup = {
    ...{ ...owner, iccid, productId, scenario: null, actor: visit.actor, credential: null, offer: null },
    key: `portal ${confirmed ? requiredField(form, KEY_FIELD) : "rehearsed"}`,
    payloadHash: payloadHash({ iccid, productId }),
    maxTotal: confirmed ? integerField(form, "most") : null,
  };
  const input = { ...asked, offer: await topupOffersOf(context).offer(asked) };
  if (!confirmed) return foreseen(visit, (await visit.rehearse(createTopup, input)).topup);
  const { topup, replayed } = await visit.write(createTopup, input);
  const words = `${topup.product_sku} is bought for this eSIM; it is on it within seconds, or refunded.`;
  return { to: pathOf(iccid), notice: replayed ? "This form was sent before: nothing was done again." : words };
}

function foreseen(visit: PortalVisit, topup: Topup): Shown {
  const { iccid, product_sku, price_cents, currency, wallet_balance_after_cents: left } = topup;
  const price = moneyWords(price_cents, currency);
  const charged = left === null ? "" : ` The wallet holds ${moneyWords(left, currency)} then.`;
  const isFree = visit.owner.environment === "sandbox";
  return consequenceShown(
    { ...visit, form: { ...visit.form, most: String(price_cents) } },
    {
      ...{ title: `Top up eSIM ${iccid}?`, to: `${pathOf(iccid)}/topup`, carried: ["product", "most"], keyed: true },
      ...{ act: `Buy ${product_sku}`, back: pathOf(iccid) },
      children: <p>{isFree ? `${product_sku}: the sandbox charges nothing.` : `It costs ${price}.${charged}`}</p>,
    },
  );
}

/** An eSIM of another is not there. */
const own = (page: (visit: PortalVisit) => Promise<Shown>) => (visit: PortalVisit) => page(visit).catch(asNotFound);

const [at, show] = ["/esims/:iccid/topup", own(choosePage)] as const;

export const esimTopupPages = [portalPage({ path: at, needs: "orders.write", show, act: own(topUp), again: show })];
