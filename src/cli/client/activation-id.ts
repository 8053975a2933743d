import type { ActivationId } from "../../core/kernel/brand.ts";
import type { Store } from "../../core/store/store.ts";
import { CliError } from "../kernel/errors.ts";
import type { Activation, PageBody } from "./answers.ts";
import { type Api, apiPath } from "./api.ts";

const ICCID = /^\d{13,20}$/;

/** The id of the request that `given` names: of an ICCID's the newest, anything else stays. Throws `not_found`. */
export async function activationId(api: Api, given: string): Promise<string> {
  const named = given.trim();
  if (!ICCID.test(named)) return named;
  const query = { iccid: named, limit: 1 };
  const { body } = await api.request<PageBody<Activation>>("GET", apiPath`/activations`, { query });
  return body.data[0]?.id ?? noRequest(named);
}

/** The request that `given` names, of any partner: by its id, or the one that holds an ICCID. Throws `not_found`. */
export async function requestAtHand(store: Store, given: string) {
  const { holderOfIccid, requireActivation } = await import("../../core/activations/activation.ts");
  const named = given.trim().toLowerCase();
  // An id that was typed: whether there is such a request the database says.
  if (!ICCID.test(named)) return store.read(requireActivation, named as ActivationId);
  return (await store.read(holderOfIccid, named)) ?? noRequest(named);
}

function noRequest(iccid: string): never {
  const hint = `What ended: esimctl activations list --iccid ${iccid}; on the operator's host esimctl find ${iccid}`;
  throw new CliError("not_found", `No request holds the ICCID ${iccid}.`, hint);
}
