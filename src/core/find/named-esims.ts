import { type EsimRow, esimsOfIccid, findEsim, newestEsimsOfOrder, presentEsims } from "../esims/esim.ts";
import type { EsimId } from "../kernel/brand.ts";
import type { Read } from "../store/store.ts";
import { isOwn, type Named, namedOrders } from "./named-orders.ts";

/** Most eSIMs of one order: enough to see that the identifier does not name one eSIM, and to list some. */
const MOST = 50;

/** The sold eSIMs that an identifier names: by ICCID or id; else the newest of the order that it names. */
export async function namedEsims(q: Read, { given, owner }: Named): Promise<EsimRow[]> {
  const word = given.trim();
  const byIccid = /^\d{19,20}$/.test(word) ? await esimsOfIccid(q, word) : [];
  // Any text may come as an id: only that of an eSIM finds one.
  const byId = byIccid.length > 0 ? null : await findEsim(q, word.toLowerCase() as EsimId);
  const direct = byId === null ? byIccid : [byId];
  if (direct.length > 0) return presentEsims(direct.filter((esim) => esim.order_id !== null && isOwn(esim, owner)));
  const esims: EsimRow[] = [];
  for (const order of await namedOrders(q, { given, owner })) {
    esims.push(...(await newestEsimsOfOrder(q, order, MOST)));
  }
  return esims;
}
