import type { ComponentChildren } from "preact";
import { currentOutages, type Outage } from "../../../core/platform/outages.ts";
import type { CircuitState } from "../../../core/store/schema/values.ts";
import type { Read } from "../../../core/store/store.ts";
import { pauseSupplier, resumeSupplier } from "../../../core/suppliers/pause.ts";
import { isProvider, listSuppliers, type Supplier } from "../../../core/suppliers/supplier.ts";
import { circuits } from "../../../core/supply/circuit.ts";
import { type SupplierDetail, supplierDetail } from "../../../core/supply/supplier-detail.ts";
import { formShown } from "../../parts/act-form.tsx";
import { ActButton } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { type Fields, links, pageShown, record } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn, requiredField, type Shown } from "../../session/visit.ts";
import { storyOf } from "./audit-history.ts";
import { timelineShown } from "./history.tsx";
import { accountActs, askBalance, check, showCallback } from "./supplier-account.tsx";
import { changeConnection, connect, connectForm, connectionForms, replaceSecret } from "./supplier-connect.tsx";

type Listed = Supplier & { outage: Outage | undefined; circuit: CircuitState };

async function withHealth(q: Read): Promise<Listed[]> {
  const suppliers = await listSuppliers(q, null);
  const outages = await currentOutages(q, { suppliers: suppliers.map(({ name }) => name) });
  const open = new Map((await circuits(q)).map(({ name, circuit }) => [name, circuit]));
  return suppliers.map((one) => {
    const outage = outages.find(({ name }) => name === one.name);
    return { ...one, outage, circuit: open.get(one.name) ?? "closed" };
  });
}

function healthOf({ paused, outage, circuit }: Pick<Listed, "paused" | "outage" | "circuit">): string {
  if (outage !== undefined || circuit !== "closed") return "failing";
  return paused === null ? "active" : "paused";
}

const circuitWords: Readonly<Record<CircuitState, string>> = { closed: "closed", open: "open", half_open: "half open" };

const columns: readonly Column<Listed>[] = [
  { title: "Supplier", cell: (one) => ({ text: one.name, to: `/suppliers/${encodeURIComponent(one.name)}` }) },
  { title: "Adapter", cell: (one) => one.adapter },
  { title: "Reached at", cell: (one) => (one.adapter === "email" ? one.to : one.url) },
  { title: "State", cell: (one) => ({ status: healthOf(one) }) },
  { title: "Circuit", cell: ({ circuit }) => circuitWords[circuit] },
  { title: "Failing since", cell: ({ outage }) => ({ time: outage?.since ?? null }) },
  { title: "Last error", cell: ({ outage }) => outage?.last_error ?? null },
  { title: "Waiting", right: true, cell: ({ outage }) => outage?.waiting ?? null },
  { title: "Paused for", cell: ({ paused }) => paused?.reason ?? null },
];

function suppliersPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Suppliers",
    path: "/suppliers",
    caption: "Suppliers",
    columns,
    read: () => visit.store.read(withHealth, null),
    empty: "No suppliers yet.",
    above: <div class="acts">{links(visit, [["/carriers", "Carriers"]])}</div>,
    below: visit.may("suppliers.write") && connectForm(visit),
  });
}

const nameOf = (visit: ConsoleVisit) => partIn(visit, "name");
const pathOf = (name: string) => `/suppliers/${encodeURIComponent(name)}`;

/** One supplier. Throws `not_found`. */
async function seen(q: Read, name: string) {
  const supplier = await supplierDetail(q, name);
  const [outage] = await currentOutages(q, { suppliers: [name] });
  return { supplier, outage, history: await storyOf(q, name) };
}

async function supplierPage(visit: ConsoleVisit): Promise<Shown> {
  const { supplier, outage, history } = await visit.store.read(seen, nameOf(visit));
  const { name, paused, circuit } = supplier;
  const body = (
    <>
      {record(visit, [
        ["State", { status: healthOf({ paused, outage, circuit }) }],
        ["Adapter", supplier.adapter],
        ["Address", supplier.url],
        ["Mail to", supplier.to],
        ["Without TLS", supplier.insecure ? "allowed" : "refused"],
        ["Secret", supplier.has_secret ? "set" : "none"],
        ["Own mail template", supplier.has_template ? "yes" : "no"],
        ["Changed", { time: supplier.updated_at }],
      ])}
      {supplyShown(visit, supplier)}
      {outageShown(visit, outage)}
      {visit.may("suppliers.write") && [
        accountActs(visit, supplier),
        connectionForms(visit, supplier),
        pausing(visit, supplier),
      ]}
      {await timelineShown(visit, history)}
    </>
  );
  return pageShown(visit, name, body);
}

/** What only a supplier has whose own API is spoken: its account, and whether it is asked for more. */
function supplyShown(visit: ConsoleVisit, supplier: SupplierDetail): ComponentChildren {
  if (!isProvider(supplier.adapter)) return null;
  const { circuit, circuit_since, circuit_reason, balance, balance_currency, markup } = supplier;
  return [
    <h2>Supply</h2>,
    record(visit, [
      ["Circuit", [circuitWords[circuit], circuit_reason].filter((word) => word !== null).join(": ")],
      ["Since", { time: circuit_since }],
      ["Balance", balance === null ? null : `${balance} ${balance_currency ?? ""}`],
      ["Balance seen", { time: supplier.balance_at }],
      ["Buys nothing below", supplier.low_balance],
      ["Markup", markup === null ? null : `${markup} %`],
      ["SKUs begin with", supplier.sku_prefix],
      ["Last sync", { time: supplier.synced_at }],
    ]),
  ];
}

/** The exchanges that fail now: since when, why and what waits for the next. */
export function outageShown(visit: ConsoleVisit, outage: Outage | undefined): ComponentChildren {
  if (outage === undefined) return null;
  const fields: Fields = [
    ["Since", { time: outage.since }],
    ["Last failure", { time: outage.last_at }],
    ["Failures in a row", outage.failures],
    ["Last error", outage.last_error],
    ["Waiting", outage.waiting],
    ["Next attempt", { time: outage.next_attempt_at }],
  ];
  return [<h2>Failing</h2>, record(visit, fields)];
}

function pausing(visit: ConsoleVisit, { name, paused }: Supplier): ComponentChildren {
  const at = pathOf(name);
  const now: Fields =
    paused === null
      ? []
      : [
          ["Why", paused.reason],
          ["Since", { time: paused.since }],
        ];
  const hint = "At most 200 characters; partners read it.";
  return (
    <section>
      <h2>{paused === null ? "Pause" : "Paused"}</h2>
      {paused !== null &&
        record(visit, now, <ActButton visit={visit} to={`${at}/resume`} label="Accept new orders again" />)}
      {formShown(visit, {
        intro:
          `While it is paused, new orders with a product of ${name} are refused, and partners read the reason. ` +
          "Orders that were accepted go on.",
        to: `${at}/pause`,
        fields: [{ name: "reason", label: "Reason", hint, required: true }],
        submit: paused === null ? "Refuse new orders" : "Give another reason",
        bad: true,
      })}
    </section>
  );
}

async function pause(visit: ConsoleVisit): Promise<Shown> {
  const { form } = visit;
  const asked = { name: nameOf(visit), reason: requiredField(form, "reason") };
  const { name } = await visit.write(pauseSupplier, asked);
  return { to: pathOf(name), notice: `New orders of ${name} are refused.` };
}

async function resume(visit: ConsoleVisit): Promise<Shown> {
  const { name } = await visit.write(resumeSupplier, { name: nameOf(visit) });
  return { to: pathOf(name), notice: `New orders of ${name} are accepted.` };
}

const write = { needs: "suppliers.write", again: supplierPage } as const;

/** The suppliers, how they do and are reached, and whether new orders of theirs are accepted. */
export const supplierPages = [
  consolePage({ path: "/suppliers", needs: "suppliers.read", show: suppliersPage }),
  consolePage({ path: "/suppliers/:name", needs: "suppliers.read", show: supplierPage }),
  consolePage({ ...write, path: "/suppliers", act: connect, again: suppliersPage, stepUp: true }),
  consolePage({ ...write, path: "/suppliers/:name/connection", act: changeConnection, stepUp: true }),
  consolePage({ ...write, path: "/suppliers/:name/secret", act: replaceSecret, stepUp: true }),
  consolePage({ ...write, path: "/suppliers/:name/callback", act: showCallback, stepUp: true, secret: true }),
  consolePage({ ...write, path: "/suppliers/:name/check", act: check }),
  consolePage({ ...write, path: "/suppliers/:name/balance", act: askBalance }),
  consolePage({ ...write, path: "/suppliers/:name/pause", act: pause }),
  consolePage({ ...write, path: "/suppliers/:name/resume", act: resume }),
];
