import { type Carrier, listCarriers, requireCarrier, toCarrier } from "../../../core/carriers/carrier.ts";
import { currentOutages, type Outage } from "../../../core/platform/outages.ts";
import type { Read } from "../../../core/store/store.ts";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { links, pageShown, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn, type Shown } from "../../session/visit.ts";
import { requestLabel } from "../activation-fields.ts";
import { storyOf } from "./audit-history.ts";
import { addCarrier, carrierForm, carrierForms, changeCarrier, replaceCarrierSecret } from "./carrier-set.tsx";
import { timelineShown } from "./history.tsx";
import { outageShown } from "./suppliers.tsx";

type Listed = Carrier & { outage: Outage | undefined };

async function withOutages(q: Read): Promise<Listed[]> {
  const outages = (await currentOutages(q)).filter(({ kind }) => kind === "carrier");
  const carriers = await listCarriers(q, null);
  return carriers.map((one) => ({ ...one, outage: outages.find(({ name }) => name === one.prefix) }));
}

const columns: readonly Column<Listed>[] = [
  { title: "Prefix", cell: ({ prefix }) => ({ text: prefix, to: `/carriers/${encodeURIComponent(prefix)}` }) },
  { title: "Name", cell: (one) => one.name },
  { title: "Region", cell: (one) => one.region },
  { title: "Adapter", cell: (one) => one.adapter },
  { title: "State", cell: ({ outage }) => ({ status: outage === undefined ? "active" : "failing" }) },
  { title: "Failing since", cell: ({ outage }) => ({ time: outage?.since ?? null }) },
  { title: "Last error", cell: ({ outage }) => outage?.last_error ?? null },
  { title: "Waiting", right: true, cell: ({ outage }) => outage?.waiting ?? null },
];

function carriersPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Carriers",
    path: "/carriers",
    caption: "Carriers",
    columns,
    read: () => visit.store.read(withOutages, null),
    empty: "No carriers.",
    above: <div class="acts">{links(visit, [["/suppliers", "Suppliers"]])}</div>,
    below: visit.may("suppliers.write") && carrierForm(visit),
  });
}

/** One carrier. Throws `not_found`. */
async function seen(q: Read, prefix: string) {
  const carrier = toCarrier(await requireCarrier(q, prefix));
  const outage = (await currentOutages(q)).find(({ kind, name }) => kind === "carrier" && name === prefix);
  return { carrier, outage, history: await storyOf(q, prefix) };
}

async function carrierPage(visit: ConsoleVisit): Promise<Shown> {
  const { carrier, outage, history } = await visit.store.read(seen, partIn(visit, "prefix"));
  const body = (
    <>
      {record(visit, [
        ["State", { status: outage === undefined ? "active" : "failing" }],
        ["Prefix", carrier.prefix],
        ["Region", carrier.region],
        ["Brand", carrier.brand],
        ["Adapter", carrier.adapter],
        ["Address", carrier.url],
        ["Without TLS", carrier.insecure ? "allowed" : "refused"],
        ["Secret", carrier.has_secret ? "set" : "none"],
        ["Needs", carrier.required_fields.map(requestLabel).join(", ")],
        ["One exchange takes at most", `${carrier.timeout_seconds} s`],
        ["Its final answer comes within", `${carrier.answer_within_hours} h`],
        ["Changed", { time: carrier.updated_at }],
      ])}
      {outageShown(visit, outage)}
      {visit.may("suppliers.write") && carrierForms(visit, carrier)}
      {await timelineShown(visit, history)}
    </>
  );
  return pageShown(visit, carrier.name, body);
}

const write = { needs: "suppliers.write", again: carrierPage, stepUp: true } as const;

/** The carriers, how they are reached, and how exchanges with them go. */
export const carrierPages = [
  consolePage({ path: "/carriers", needs: "suppliers.read", show: carriersPage }),
  consolePage({ path: "/carriers/:prefix", needs: "suppliers.read", show: carrierPage }),
  consolePage({ ...write, path: "/carriers", act: addCarrier, again: carriersPage }),
  consolePage({ ...write, path: "/carriers/:prefix", act: changeCarrier }),
  consolePage({ ...write, path: "/carriers/:prefix/secret", act: replaceCarrierSecret }),
];
