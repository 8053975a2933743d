import { createHmac } from "node:crypto";
import { invalid, success } from "./airalo-answers.ts";
import { readFields } from "./airalo-fields.ts";
import type { AiraloMemory, AiraloSim } from "./airalo-memory.ts";
import { airaloClient } from "./airalo-token.ts";
import { totalsOf } from "./airalo-usage.ts";
import type { ProviderAnswer, ProviderCallback, ProviderRequest } from "./provider.ts";

/** The kind of notification that a phone's use causes. */
export const LOW_DATA = "webhook_low_data";

/** Each kind of notification, with the field that has its contact. */
const kinds: Readonly<Record<string, "webhook_url" | "email">> = {
  async_orders: "webhook_url",
  [LOW_DATA]: "webhook_url",
  webhook_credit_limit: "webhook_url",
  email_low_data: "email",
  email_credit_limit: "email",
};

/** Used shares at which a notice goes out, in percent. */
const levels = [75, 90];

/**
 * `POST /notifications/opt-in`. The provider sends the address a HEAD first, which is left out here: it cannot be
 * waited for.
 */
export function optIn(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const fields = readFields(request, ["json"]);
  const type = fields.text("type");
  const field = kinds[type ?? ""];
  if (type === null || field === undefined) return invalid({ type: typeFault(type) });
  const contact = fields.text(field);
  if (contact === null) return invalid({ [field]: `The ${field.replace("_", " ")} field is required.` });
  if (field === "webhook_url" && !/^https?:\/\//.test(contact)) {
    return invalid({ webhook_url: "The webhook url format is invalid." });
  }
  memory.contacts.set(type, contact);
  return success({ notification: { type, contact_point: contact } });
}

/** `POST /notifications/opt-out`: without a body. */
export function optOut(memory: AiraloMemory, request: ProviderRequest): ProviderAnswer {
  const type = readFields(request, ["json"]).text("type");
  if (type === null || kinds[type] === undefined) return invalid({ type: typeFault(type) });
  memory.contacts.delete(type);
  return { status: 204 };
}

/** `GET /notifications/opt-in`: one kind, as published; that of low data before the others. */
export function showOptIn({ contacts }: AiraloMemory): ProviderAnswer {
  const low = contacts.get(LOW_DATA);
  const [shown] = low === undefined ? contacts : [[LOW_DATA, low] as const];
  if (shown === undefined) return success([]);
  const [type, contact_point] = shown;
  return success({ notification: { type, contact_point } });
}

function typeFault(type: string | null): string {
  return type === null ? "The type field is required." : "The selected type is invalid.";
}

/** The notices of low data that an eSIM's use causes now, each level once. */
export function lowDataNotices({ contacts }: AiraloMemory, sim: AiraloSim, now: number): ProviderCallback[] {
  const { total, remaining } = totalsOf(sim, now);
  if (total === 0) return [];
  const used = ((total - remaining) / total) * 100;
  const crossed = levels.filter((level) => used >= level && !sim.notified.has(`${level}%`));
  for (const level of crossed) sim.notified.add(`${level}%`);
  const url = contacts.get(LOW_DATA);
  if (url === undefined) return [];
  return crossed.map((level) => {
    const remaining_percentage = Math.floor((remaining / total) * 100);
    const notice = { level: `${level}%`, package_name: sim.order.bought.id, remaining_percentage, iccid: sim.iccid };
    return signed(url, JSON.stringify(notice));
  });
}

function signed(url: string, body: string): ProviderCallback {
  const signature = createHmac("sha512", airaloClient.secret).update(body).digest("hex");
  return { url, body, headers: { "content-type": "application/json", "airalo-signature": signature } };
}
