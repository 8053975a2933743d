import type { ComponentChildren } from "preact";
import { parseCost } from "../../../core/kernel/cost.ts";
import { supplierAdapters } from "../../../core/store/schema/values.ts";
import { type SupplierSettings, setSupplier } from "../../../core/suppliers/set.ts";
import { isProvider, type Supplier } from "../../../core/suppliers/supplier.ts";
import { type SupplierDetail, supplierDetail } from "../../../core/supply/supplier-detail.ts";
import { type FieldOf, formShown, saidBy } from "../../parts/act-form.tsx";
import { mergedVisit } from "../../parts/merging.ts";
import {
  type ConsoleVisit,
  choiceField,
  field,
  optionalField,
  partIn,
  requiredField,
  type Shown,
} from "../../session/visit.ts";
import { secretField, secretForm } from "./secret-form.tsx";

const adapterWords = {
  esimaccess: "eSIM Access",
  airalo: "Airalo",
  esimgo: "eSIM Go",
  http: "signed requests",
  email: "mail",
} as const;

const SECRETS =
  "ACCESSCODE:SECRETKEY of eSIM Access, CLIENT_ID:CLIENT_SECRET of Airalo, the API key of eSIM Go, the key of both " +
  "signatures. It is sealed, and shown nowhere.";

const OWN = "Empty: the provider's own.";
const address = (given: { hint: string; value?: string | null; checked?: boolean; required?: boolean }): FieldOf[] => {
  const { hint, value, checked, required } = given;
  return [
    { name: "url", label: "Address", value: value ?? "", hint, required },
    { tick: "insecure", label: "Allow an address beyond this machine without TLS", checked },
  ];
};
const mail = ({ to }: Partial<Pick<Supplier, "to">>): FieldOf[] => [
  { name: "to", label: "Mail to", inputmode: "email", value: to ?? "", required: to !== undefined },
  {
    name: "template",
    label: "Mail template",
    rows: 4,
    hint: to === undefined ? "Empty: the usual one." : "Empty: as it is.",
  },
];

/** The form that connects a supplier. */
export function connectForm(visit: ConsoleVisit): ComponentChildren {
  return formShown(visit, {
    ...{ title: "Connect a supplier", to: "/suppliers", submit: "Connect", folded: { open: visit.problem !== null } },
    fields: [
      { name: "name", label: "Name", hint: "As products name it: ea, northwind.", required: true },
      { name: "adapter", label: "Reached by", options: supplierAdapters.map((one) => [one, adapterWords[one]]) },
      secretField(SECRETS),
      ...address({ hint: OWN }),
      ...mail({}),
    ],
  });
}

/** The forms that change how a supplier is reached. */
export function connectionForms(visit: ConsoleVisit, supplier: SupplierDetail): ComponentChildren {
  const { name, adapter, has_secret } = supplier;
  const at = `/suppliers/${encodeURIComponent(name)}`;
  return (
    <>
      {formShown(visit, {
        ...{ title: "Connection", to: `${at}/connection`, submit: "Save the connection" },
        ...{ fields: connectionOf(supplier), ofRecord: {} },
      })}
      {adapter !== "email" && secretForm(visit, `${at}/secret`, has_secret)}
    </>
  );
}

function connectionOf(supplier: SupplierDetail): FieldOf[] {
  const { adapter, url, insecure, low_balance } = supplier;
  if (adapter === "email") return mail(supplier);
  const low = {
    name: "low_balance",
    label: "Buy nothing below",
    inputmode: "decimal",
    value: low_balance ?? "",
  } as const;
  const reached = isProvider(adapter) ? { hint: OWN } : { hint: "Where it is reached.", required: true };
  return [
    ...address({ ...reached, value: url, checked: insecure }),
    isProvider(adapter) && { ...low, hint: "A balance of the account; empty: no bound." },
  ];
}

async function set(
  visit: ConsoleVisit,
  { name, ...given }: { name: string; settings: SupplierSettings; isNew?: true },
): Promise<Shown> {
  const { store, actor, request } = visit;
  await store.write(setSupplier, { name, ...given, actor }, request.id);
  return {
    to: `/suppliers/${encodeURIComponent(name)}`,
    notice: `${name} is saved; it is used from the next request.`,
  };
}

/** What a form says of the connection. */
function connectionIn({ form }: ConsoleVisit): SupplierSettings {
  return {
    ...("url" in form && { url: optionalField(form, "url") ?? null, insecure: field(form, "insecure") !== "" }),
    ...("to" in form && mailIn(form)),
  };
}

/** Where mails go, and how they read: an empty template stays as it is. */
function mailIn(form: ConsoleVisit["form"]): SupplierSettings {
  const template = field(form, "template");
  return {
    to: optionalField(form, "to") ?? null,
    template: template === "" ? undefined : `${template.replaceAll("\r\n", "\n")}\n`,
  };
}

/** Adds a supplier. */
export function connect(visit: ConsoleVisit): Promise<Shown> {
  const { form } = visit;
  const adapter = choiceField(form, "adapter", supplierAdapters);
  const settings = { ...connectionIn(visit), adapter, secret: optionalField(form, "secret") };
  return set(visit, { name: requiredField(form, "name"), settings, isNew: true });
}

/** Changes where a supplier is reached, and below which balance nothing is bought of it. */
export async function changeConnection(visit: ConsoleVisit): Promise<Shown> {
  const name = partIn(visit, "name");
  const sent = mergedVisit(visit, saidBy(connectionOf(await visit.store.read(supplierDetail, name))));
  const low = field(sent.form, "low_balance");
  const bound = "low_balance" in sent.form ? { lowBalance: low === "" ? null : parseCost(low, "low_balance") } : {};
  return set(visit, { name, settings: { ...connectionIn(sent), ...bound } });
}

/** Replaces a supplier's secret. */
export function replaceSecret(visit: ConsoleVisit): Promise<Shown> {
  return set(visit, { name: partIn(visit, "name"), settings: { secret: requiredField(visit.form, "secret") } });
}
