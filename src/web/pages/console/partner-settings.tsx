import { requirePartner } from "../../../core/partners/partner.ts";
import { type PartnerChange, updatePartner } from "../../../core/partners/update.ts";
import type { Row } from "../../../core/store/schema/tables.ts";
import { type PartnerBound, partnerBounds, tiers } from "../../../core/store/schema/values.ts";
import { type FieldOf, formShown, saidBy } from "../../parts/act-form.tsx";
import { mergedVisit } from "../../parts/merging.ts";
import { pageShown } from "../../parts/shown.tsx";
import { moneyWords } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import {
  type ConsoleVisit,
  choiceField,
  field,
  moneyField,
  numberOrNull,
  optionalField,
  requiredField,
  type Shown,
} from "../../session/visit.ts";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

/** What each bound is of, in words. */
const bounds: Readonly<Record<PartnerBound, string>> = {
  max_endpoints: "Webhook endpoints in each environment",
  max_pool: "Passports in the pool of each environment",
  max_open_activations: "Open activation requests in production",
  max_sandbox_activations: "Open activation requests in the sandbox",
  max_pending_deliveries: "Deliveries that wait for one endpoint",
  max_days_ahead: "Days from today to an activation date",
  max_requests_per_minute: "Requests a minute over all credentials",
};

// The names of a record are its keys.
const boundNames = Object.keys(bounds) as PartnerBound[];

async function settingsPage(visit: ConsoleVisit): Promise<Shown> {
  const partner = await visit.store.read(requirePartner, slugOf(visit));
  const at = `/partners/${partner.slug}`;
  const hint = "For example 5000.00; 0 for none. What is drawn above a new line stays drawn.";
  const body = (
    <>
      <PartnerLinks visit={visit} slug={partner.slug} />
      {formShown(visit, {
        ...{ title: "What it may do", to: `${at}/settings`, fields: settingsOf(partner), submit: "Save" },
        ofRecord: {},
      })}
      {formShown(visit, {
        ...{ title: "Credit line", to: `${at}/credit-line`, submit: "Set the credit line" },
        intro: "Orders draw on it what the wallet lacks; money that comes in repays it first.",
        fields: [
          { name: "credit_line", label: "Credit line", inputmode: "decimal", hint, required: true },
          { name: "currency", label: "Currency", value: "AUD", required: true },
        ],
      })}
    </>
  );
  return pageShown(visit, `Settings of ${partner.name}`, body);
}

function settingsOf(partner: Row<"partners">): FieldOf[] {
  const { tier, agent, production, sandbox_activations, rate_limit, support } = partner;
  const number = (name: string, label: string, value: number | null, empty: string | number) => {
    return { name, label, inputmode: "numeric", value: value?.toString() ?? "", hint: `Empty: ${empty}.` } as const;
  };
  return [
    { name: "tier", label: "Tier", options: tiers, value: tier },
    { tick: "agent", label: "Agent: identity pool and bulk activations", checked: agent },
    { tick: "production", label: "Production is open", checked: production },
    "Closing production makes its live credentials invalid at once, until it is opened again.",
    { tick: "sandbox_activations", label: "Activation requests in the sandbox", checked: sandbox_activations },
    number("rate_limit", "Requests a minute of one credential", rate_limit, "what the tier has"),
    "What is there already stays, whatever a bound is set to.",
    ...boundNames.map((name) =>
      number(name, bounds[name], partner[name], partnerBounds[name].default ?? "no limit of its own"),
    ),
    { name: "support", label: "How its customers reach it", value: support ?? "", hint: "Install pages say it." },
  ];
}

/** What a form would change: the audit trail names that alone. */
function changesIn(visit: ConsoleVisit, partner: Row<"partners">): Omit<PartnerChange, "slug" | "actor"> {
  const { form } = visit;
  const ticked = (name: string) => field(form, name) !== "";
  const tier = choiceField(form, "tier", tiers);
  const rateLimit = numberOrNull(form, "rate_limit");
  const support = optionalField(form, "support") ?? null;
  const asked = boundNames.map((name) => [name, numberOrNull(form, name)] as const);
  const changed = asked.filter(([name, value]) => value !== partner[name]);
  return {
    ...(tier === partner.tier ? {} : { tier }),
    ...(ticked("agent") === partner.agent ? {} : { agent: ticked("agent") }),
    ...(ticked("production") === partner.production ? {} : { production: ticked("production") }),
    ...(ticked("sandbox_activations") === partner.sandbox_activations
      ? {}
      : { sandboxActivations: ticked("sandbox_activations") }),
    ...(rateLimit === partner.rate_limit ? {} : { rateLimit }),
    ...(changed.length === 0 ? {} : { bounds: Object.fromEntries(changed) }),
    ...(support === partner.support ? {} : { support }),
  };
}

async function save(visit: ConsoleVisit): Promise<Shown> {
  const { store } = visit;
  const partner = await store.read(requirePartner, slugOf(visit));
  const { slug } = partner;
  const changes = changesIn(mergedVisit(visit, saidBy(settingsOf(partner))), partner);
  const to = `/partners/${slug}`;
  if (Object.keys(changes).length === 0) return { to, notice: "Nothing was changed." };
  await visit.write(updatePartner, { slug, ...changes });
  return { to, notice: `The settings of ${slug} are saved.` };
}

async function setLine(visit: ConsoleVisit): Promise<Shown> {
  const { form } = visit;
  const currency = requiredField(form, "currency").toUpperCase();
  const cents = moneyField(form, "credit_line", currency);
  const input = { slug: slugOf(visit), creditLine: { currency, cents } };
  const { slug } = await visit.write(updatePartner, input);
  return { to: `/partners/${slug}`, notice: `The credit line of ${slug} is ${moneyWords(cents, currency)}.` };
}

const [at, needs] = ["/partners/:slug", "partners.write"] as const;

export const partnerSettingsPages = [
  consolePage({ path: `${at}/settings`, needs, show: settingsPage, act: save }),
  consolePage({ path: `${at}/credit-line`, needs, act: setLine, again: settingsPage, stepUp: true }),
];
