import type { IdentityField, simFields } from "../../core/kernel/identity-fields.ts";
import type { FieldOf } from "../parts/act-form.tsx";
import { titleOf } from "../parts/words.ts";

/** What a request says of its traveler and SIM, and for the partner's own use. */
type Name = IdentityField | keyof typeof simFields | "customer_email" | "customer_phone" | "plan_name" | "note";

const labels: Partial<Record<Name, string>> = {
  passport_no: "Passport number",
  passport_country: "Passport country",
  passport_expiry: "Passport expiry",
  sim_last4: "Last 4 digits on the SIM",
  puk: "PUK",
  customer_email: "E-mail",
  customer_phone: "Phone",
};

/** Fields that browsers have an input for. */
const days: readonly Name[] = ["date_of_birth", "passport_expiry"];

/** What a field of a request is called. */
export function requestLabel(name: Name): string {
  return labels[name] ?? titleOf(name);
}

/** A field of a request, empty. */
export function requestField(name: Name): FieldOf {
  return { name, label: requestLabel(name), type: days.includes(name) ? "date" : "text" };
}
