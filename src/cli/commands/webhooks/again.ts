import { isoTime } from "../../../core/kernel/clock.ts";
import type { Replayed, Webhook } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { listAll } from "../../client/pages.ts";
import { CliError } from "../../kernel/errors.ts";

/** What is sent again of an endpoint: held or exhausted from a moment (ms) on, of these kinds or of all. */
interface Replay {
  endpoint: string;
  since: number;
  kinds?: readonly string[] | undefined;
}

/** Sends again what did not arrive at an endpoint; how many deliveries. Throws CliError. */
export async function replayFrom(api: Api, { endpoint, since, kinds }: Replay): Promise<number> {
  const body = { since: isoTime(since), ...(kinds === undefined ? {} : { kinds }) };
  return (await api.request<Replayed>("POST", apiPath`/webhooks/${endpoint}/replay`, { body })).body.count;
}

/** Sends one delivery again. Without an endpoint all of the partner's are searched for it. Throws CliError. */
export async function redeliverOwn(api: Api, id: string, endpoint: string | undefined): Promise<void> {
  const of = endpoint ?? (await endpointWith(api, id));
  await api.request("POST", apiPath`/webhooks/${of}/deliveries/${id}/redeliver`);
}

/** The endpoint that a delivery goes to. Throws `not_found`. */
async function endpointWith(api: Api, delivery: string): Promise<string> {
  for (const { id } of await listAll<Webhook>(api, apiPath`/webhooks`, {})) {
    if (await isThere(api, apiPath`/webhooks/${id}/deliveries/${delivery}`)) return id;
  }
  const hint = "Check the id: esimctl webhooks deliveries --endpoint ID lists those of an endpoint.";
  throw new CliError("not_found", "No such delivery.", hint);
}

async function isThere(api: Api, path: string): Promise<boolean> {
  try {
    await api.request("GET", path);
    return true;
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") return false;
    throw error;
  }
}
