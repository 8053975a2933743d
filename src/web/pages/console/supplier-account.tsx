import type { ComponentChildren } from "preact";
import { notFound } from "../../../core/kernel/problem.ts";
import { isProvider } from "../../../core/suppliers/supplier.ts";
import { keepBalance } from "../../../core/supply/balance.ts";
import { type SupplierDetail, supplierDetail } from "../../../core/supply/supplier-detail.ts";
import { ActButton } from "../../parts/form.tsx";
import { backLink, LinkButton, onceShown, pageShown, table } from "../../parts/shown.tsx";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { partIn } from "../../session/visit.ts";
import { withProvider } from "./provider.ts";

const nameOf = (visit: ConsoleVisit) => partIn(visit, "name");
const pathOf = (name: string) => `/suppliers/${encodeURIComponent(name)}`;

/** What a supplier's own API can be asked for; nothing where it has none. */
export function accountActs(visit: ConsoleVisit, { name, adapter }: SupplierDetail): ComponentChildren {
  if (!isProvider(adapter)) return null;
  const at = pathOf(name);
  return (
    <div class="acts">
      <LinkButton visit={visit} to={`${at}/sync`} words="Sync its catalog" main />
      <ActButton visit={visit} to={`${at}/check`} label="Check the account" />
      <ActButton visit={visit} to={`${at}/balance`} label="Ask for the balance" />
      <ActButton visit={visit} to={`${at}/callback`} label="Show where it calls back" />
    </div>
  );
}

/** Asks the provider what it can prove; nothing is bought or changed. */
export async function check(visit: ConsoleVisit): Promise<Shown> {
  const name = nameOf(visit);
  const checks = await withProvider(visit, name, (provider) => provider.check());
  const body = (
    <>
      {table(visit, { caption: "What was proved", rows: checks, empty: "Nothing was proved." }, [
        { title: "Check", cell: (one) => one.name },
        { title: "Result", cell: (one) => ({ status: one.ok ? "ok" : "failed" }) },
        { title: "Detail", cell: (one) => one.detail },
      ])}
      {backLink(visit, pathOf(name), `Back to ${name}`)}
    </>
  );
  return pageShown(visit, `Check of ${name}`, body);
}

/** Asks the provider what the account holds, and keeps it. */
export async function askBalance(visit: ConsoleVisit): Promise<Shown> {
  const { store, request } = visit;
  const name = nameOf(visit);
  const held = await withProvider(visit, name, (provider) => provider.balance());
  const { balance, currency, low } = await store.write(keepBalance, { supplier: name, ...held }, request.id);
  const notice = `The account of ${name} holds ${balance} ${currency}${low ? ", too little to buy" : ""}.`;
  return { to: pathOf(name), notice };
}

/** The address that the provider calls back at, which is secret. */
export async function showCallback(visit: ConsoleVisit): Promise<Shown> {
  const { name, callback_path } = await visit.store.read(supplierDetail, nameOf(visit));
  if (callback_path === null) throw notFound("supplier", name);
  const address = `${visit.context.addresses.publicUrl}${callback_path}`;
  return onceShown(visit, `Where ${name} calls back`, {
    words: "Set it at the provider. It is secret: forged notices would cost look-ups.",
    values: [["callback", "Address", address]],
    back: pathOf(name),
  });
}
