import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { daysOf, type EaEsim, eaTime, shown, statusOf, validUntil, volumeOf } from "./esimaccess-account.ts";
import { basePackages, eaLocations, packageNamed, topupPackages } from "./esimaccess-catalog.ts";
import { bodyFault, type EaOutcome } from "./esimaccess-codes.ts";
import type { EaCall } from "./esimaccess-order.ts";

const Text = Type.Optional(Type.String());

const query = Compile(
  Type.Object({
    orderNo: Text,
    iccid: Text,
    esimTranNo: Text,
    startTime: Text,
    endTime: Text,
    pager: Type.Object({
      pageNum: Type.Integer({ minimum: 1, maximum: 10_000 }),
      pageSize: Type.Integer({ minimum: 5, maximum: 500 }),
    }),
  }),
);

/** POST /esim/query. What is not among its documented filters is ignored, a transactionId too. */
export function queryEsims({ account, body, steered, now }: EaCall): EaOutcome {
  if (!query.Check(body)) return { code: bodyFault(query, body) };
  if (steered?.outcome === "refuse") return { code: "101002" };
  const { orderNo = "", iccid = "", esimTranNo = "", startTime = "", endTime = "", pager } = body;
  const window = windowOf(startTime, endTime);
  if (window === "half" || (window === "open" && orderNo + iccid + esimTranNo === "")) return { code: "000105" };
  if (window === "unreadable") return { code: "000107" };
  const ofOrder = account.esims.filter((one) => one.orderNo === orderNo);
  if (orderNo !== "" && ofOrder.length === 0) return { code: "310272" };
  if (orderNo !== "" && iccid !== "" && !ofOrder.some((one) => one.iccid === iccid)) return { code: "310403" };
  if (steered?.outcome === "wait" || ofOrder.some(({ readyAt }) => readyAt > now)) return { code: "200010" };
  const found = (orderNo === "" ? account.esims : ofOrder).filter(
    (one) =>
      one.readyAt <= now &&
      (iccid === "" || one.iccid === iccid) &&
      (esimTranNo === "" || one.esimTranNo === esimTranNo) &&
      // Whether the window is of the order or of the activation is not known: here, of the order.
      (window === "open" || (one.createdAt >= window.from && one.createdAt <= window.to)),
  );
  const { pageNum, pageSize } = pager;
  const page = found.slice((pageNum - 1) * pageSize, pageNum * pageSize);
  const esimList = page.map((one) => rowOf(one, now));
  return { obj: { esimList, pager: { pageNum, pageSize, total: found.length } } };
}

function rowOf(esim: EaEsim, now: number) {
  const { pack, transactionId, iccid, ac } = esim;
  const picture = `https://p.qrsim.example/${ac.slice(ac.lastIndexOf("$") + 1).toLowerCase()}`;
  return {
    esimTranNo: esim.esimTranNo,
    orderNo: esim.orderNo,
    transactionId,
    imsi: esim.imsi,
    iccid,
    smsStatus: pack.smsStatus,
    msisdn: "",
    ac,
    qrCodeUrl: `${picture}.png`,
    shortUrl: picture,
    smdpStatus: esim.smdpStatus,
    eid: esim.eid,
    activeType: pack.activeType,
    dataType: pack.dataType,
    activateTime: timeOrNull(esim.activatedAt),
    installationTime: timeOrNull(esim.installedAt),
    expiredTime: eaTime(validUntil(esim, now)),
    totalVolume: volumeOf(esim, now),
    totalDuration: daysOf(esim, now),
    durationUnit: pack.durationUnit,
    orderUsage: esim.used,
    esimStatus: statusOf(esim, now),
    pin: "",
    puk: "",
    apn: "internet",
    ipExport: pack.ipExport,
    supportTopUpType: pack.supportTopUpType,
    fupPolicy: pack.fupPolicy,
    packageList: [esim, ...shown(esim.topups, now)].map((one) => ({
      packageName: one.pack.name,
      packageCode: one.pack.packageCode,
      slug: one.pack.slug,
      duration: one.days,
      volume: one.volume,
      locationCode: one.pack.locationCode,
      createTime: eaTime(one.createdAt),
      esimTranNo: one.esimTranNo,
      transactionId: one.transactionId,
    })),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : eaTime(ms);
}

/** From when to when (ms), both included; `open`: no window is asked for. */
function windowOf(start: string, end: string): { from: number; to: number } | "open" | "half" | "unreadable" {
  if (start === "" && end === "") return "open";
  if (start === "" || end === "") return "half";
  const [from, to] = [momentOf(start), momentOf(end)];
  return from === null || to === null || from > to ? "unreadable" : { from, to };
}

/** The moment (ms) of a date-time with its offset, which may be written without a colon. */
function momentOf(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const at = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  return Number.isNaN(at) ? null : at;
}

const usage = Compile(Type.Object({ esimTranNoList: Type.Array(Type.String(), { minItems: 1, maxItems: 10 }) }));

/** POST /esim/usage/query. The simulation is never hours late. */
export function queryUsage({ account, body, now }: EaCall): EaOutcome {
  if (!usage.Check(body)) return { code: bodyFault(usage, body) };
  const asked = new Set(body.esimTranNoList);
  const rows = account.esims.filter(({ esimTranNo, readyAt }) => asked.has(esimTranNo) && readyAt <= now);
  const esimUsageList = rows.map((one) => ({
    esimTranNo: one.esimTranNo,
    dataUsage: one.used,
    totalData: volumeOf(one, now),
    lastUpdateTime: eaTime(one.usedAt ?? one.createdAt),
  }));
  return { obj: { esimUsageList } };
}

const packages = Compile(
  Type.Object({
    locationCode: Text,
    type: Text,
    packageCode: Text,
    slug: Text,
    iccid: Text,
    dataType: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 4 }), Type.Literal("")])),
  }),
);

/** POST /package/list, all in one answer. */
export function listPackages({ account, body }: EaCall): EaOutcome {
  if (!packages.Check(body)) return { code: bodyFault(packages, body) };
  const { locationCode = "", type = "", packageCode = "", slug = "", iccid = "", dataType = "" } = body;
  if (type !== "" && type !== "BASE" && type !== "TOPUP") return { code: "000107" };
  const listed = type === "TOPUP" ? topupPackages : basePackages;
  const where = placeFilter(locationCode);
  if (where === null) return { code: "310211" };
  // With type TOPUP a package's own code names what tops it up.
  const code = type === "TOPUP" ? packageCode.replace(/^(?!TOPUP_)(?=.)/, "TOPUP_") : packageCode;
  if (code !== "" && packageNamed(listed, code) === undefined) return { code: "310241" };
  if (slug !== "" && packageNamed(listed, slug) === undefined) return { code: "310243" };
  const card = account.esims.findLast((one) => one.iccid === iccid);
  const packageList = listed.filter(
    (one) =>
      where(one) &&
      (code === "" || one === packageNamed(listed, code)) &&
      (slug === "" || one.slug === slug) &&
      (iccid === "" || (card?.pack.supportTopUpType !== 1 && one.locationCode === card?.pack.locationCode)) &&
      (dataType === "" || one.dataType === dataType),
  );
  return { obj: { packageList } };
}

/** `!RG` is regional, `!GL` global, and a country's code all that covers it; null: it does not exist. */
function placeFilter(code: string): ((one: { location: string; locationCode: string }) => boolean) | null {
  if (code === "") return () => true;
  if (code === "!GL") return ({ locationCode }) => locationCode.startsWith("GL-");
  if (code === "!RG") return ({ locationCode }) => /^(?!GL-)[A-Z]{2}-\d+$/.test(locationCode);
  if (!eaLocations.some((one) => one.code === code)) return null;
  return ({ location, locationCode }) => locationCode === code || location.split(",").includes(code);
}

/** POST /location/list. */
export function listLocations(): EaOutcome {
  return { obj: { locationList: eaLocations } };
}
