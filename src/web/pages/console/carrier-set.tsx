import type { ComponentChildren } from "preact";
import { type Carrier, requireCarrier, toCarrier } from "../../../core/carriers/carrier.ts";
import { type CarrierSettings, setCarrier } from "../../../core/carriers/set.ts";
import { carrierAdapters, kycFields } from "../../../core/store/schema/values.ts";
import { type FieldOf, formShown, saidBy } from "../../parts/act-form.tsx";
import { mergedVisit } from "../../parts/merging.ts";
import {
  type ConsoleVisit,
  choiceField,
  field,
  integerField,
  optionalField,
  partIn,
  requiredField,
} from "../../session/visit.ts";
import { requestLabel } from "../activation-fields.ts";
import { secretField, secretForm } from "./secret-form.tsx";

const pathOf = (prefix: string) => `/carriers/${encodeURIComponent(prefix)}`;
const needs = (name: string) => `needs_${name}`;

/** What of a carrier is set by a form; of a new one with what is usual. */
function fieldsOf(carrier: Carrier | null): FieldOf[] {
  const { name = "", brand = "", region = "Australia", adapter = "manual", url = null, insecure } = carrier ?? {};
  const { required_fields = [], timeout_seconds = null, answer_within_hours = null } = carrier ?? {};
  const number = (name: string, label: string, value: number | null) => {
    const [known, required] = [value?.toString() ?? "", carrier !== null];
    return { name, label, inputmode: "numeric", value: known, required } as const;
  };
  return [
    { name: "name", label: "Name", value: name, hint: "As partners see it.", required: true },
    {
      name: "brand",
      label: "Brand",
      value: brand,
      hint: "Carriers of one brand share the cap on passport uses.",
      required: true,
    },
    { name: "region", label: "Region", value: region, required: true },
    { name: "adapter", label: "Reached by", options: carrierAdapters, value: adapter },
    { name: "url", label: "Address", value: url ?? "", hint: "Where the http adapter posts to." },
    { tick: "insecure", label: "Allow an address beyond this machine without TLS", checked: insecure },
    number("timeout", "One exchange takes at most (s)", timeout_seconds),
    number("answer_within", "Its final answer comes within (h)", answer_within_hours),
    "It needs of an identity:",
    ...kycFields.map((one) => ({ tick: needs(one), label: requestLabel(one), checked: required_fields.includes(one) })),
  ];
}

/** The form that adds a carrier. */
export function carrierForm(visit: ConsoleVisit): ComponentChildren {
  const prefix = { name: "prefix", label: "Prefix", inputmode: "numeric", required: true } as const;
  return formShown(visit, {
    ...{ title: "Add a carrier", to: "/carriers", submit: "Add the carrier", folded: { open: visit.problem !== null } },
    fields: [
      { ...prefix, hint: "The digits that its ICCIDs begin with; the longest one wins." },
      ...fieldsOf(null),
      secretField("The key of both signatures; of the http adapter. It is sealed, and shown nowhere."),
    ],
  });
}

/** The forms that change one. */
export function carrierForms(visit: ConsoleVisit, carrier: Carrier): ComponentChildren {
  const to = pathOf(carrier.prefix);
  return (
    <>
      {formShown(visit, {
        ...{ title: "Change", to, submit: "Save the carrier", fields: fieldsOf(carrier), ofRecord: {} },
      })}
      {secretForm(visit, `${to}/secret`, carrier.has_secret)}
    </>
  );
}

async function set(visit: ConsoleVisit, given: { prefix: string; settings: CarrierSettings; isNew?: true }) {
  const { store, actor, request } = visit;
  const { prefix, name } = await store.write(setCarrier, { ...given, actor }, request.id);
  return { to: pathOf(prefix), notice: `${name} is saved; it holds from the next exchange.` };
}

/** All that a form says: what is empty is none, but how long things take of a new carrier is what is usual. */
function settingsIn({ form }: ConsoleVisit, isNew: boolean): CarrierSettings {
  const number = (name: string, each: number) =>
    isNew && field(form, name) === "" ? undefined : integerField(form, name) * each;
  return {
    name: requiredField(form, "name"),
    brand: requiredField(form, "brand"),
    region: requiredField(form, "region"),
    adapter: choiceField(form, "adapter", carrierAdapters),
    url: optionalField(form, "url") ?? null,
    insecure: field(form, "insecure") !== "",
    timeout_ms: number("timeout", 1_000),
    answer_within_ms: number("answer_within", 3_600_000),
    required_fields: kycFields.filter((one) => field(form, needs(one)) !== ""),
  };
}

/** Adds a carrier. */
export function addCarrier(visit: ConsoleVisit) {
  const settings = { ...settingsIn(visit, true), secret: optionalField(visit.form, "secret") };
  return set(visit, { prefix: requiredField(visit.form, "prefix"), settings, isNew: true });
}

/** Changes a carrier. */
export async function changeCarrier(visit: ConsoleVisit) {
  const prefix = partIn(visit, "prefix");
  const carrier = toCarrier(await visit.store.read(requireCarrier, prefix));
  return set(visit, { prefix, settings: settingsIn(mergedVisit(visit, saidBy(fieldsOf(carrier))), false) });
}

/** Replaces a carrier's secret. */
export const replaceCarrierSecret = (visit: ConsoleVisit) =>
  set(visit, { prefix: partIn(visit, "prefix"), settings: { secret: requiredField(visit.form, "secret") } });
