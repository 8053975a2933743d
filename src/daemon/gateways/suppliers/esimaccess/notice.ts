import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { plainDigits } from "../../../../core/kernel/iccid.ts";
import { addressOf, isWithin, networkOf } from "../../../../core/kernel/networks.ts";
import { jsonOf, type NoticeRead } from "../notices.ts";
import type { Notice } from "../provider.ts";
import { maybe } from "../values.ts";

const Content = Type.Object(maybe(Type.String(), "iccid", "esimTranNo"));
const notice = Compile(Type.Object({ notifyType: Type.String(), ...maybe(Content, "content") }));

/** Notices have no signature: they come from these addresses alone. */
const senders = ["3.1.131.226", "54.254.74.88", "18.136.190.97", "18.136.60.197", "18.136.19.137"];
const LOOPBACK = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])[:/]/;
const networks = senders.flatMap((one) => networkOf(one) ?? []);

/** Which eSIM a notice names. From a provider that is simulated on loopback it may come from there as well. */
export function readNotice({ address, body }: Notice, url: string): NoticeRead {
  const isSimulated = LOOPBACK.test(url) && addressOf(address)?.range() === "loopback";
  if (!isSimulated && !isWithin(address, networks)) {
    return { refused: "it was sent from an address that is not among the five of eSIM Access" };
  }
  const read = jsonOf(body.toString("utf8"));
  if (!notice.Check(read)) return { refused: "it has another form than notices of eSIM Access" };
  // Health checks name no eSIM, and notices of orders only the order, which is looked up as it is bought.
  const iccid = plainDigits(read.content?.iccid ?? "");
  return { esims: iccid === "" ? [] : [{ iccid, reference: read.content?.esimTranNo || null }] };
}
