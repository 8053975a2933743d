import { fundingStatuses } from "../../../core/store/schema/values.ts";
import type { FundingRequest } from "../../../core/wallet/funding.ts";
import type { ListedFunding } from "../../../core/wallet/list-funding.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { type Argument, choice, integer, optionalArgument, text } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import type { Column, Sheet } from "../../output/sheet.ts";
import { moment, shown } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";

const acts = ["list", "credit", "cancel"] as const;
type Act = (typeof acts)[number];

const actArgument: Argument<Act> = {
  syntax: "<list|credit|cancel>",
  help: "list the requests, credit one, or cancel one",
  ask: { oneOf: [...acts] },
  read(given) {
    const act = acts.find((one) => one === given);
    if (act !== undefined) return act;
    throw usageError(`wallet funding knows ${acts.join(", ")}, not "${String(given)}".`, "See wallet funding --help.");
  },
};

const columns: Column<ListedFunding>[] = [
  { title: "reference", value: (one) => one.reference },
  { title: "partner", value: (one) => one.partner },
  { title: "amount", value: (one, sheet) => sheet.money(one.amount_cents, one.currency), align: "right" },
  { title: "status", value: (one) => one.status },
  { title: "requested", value: (one) => moment(one.created_at) },
  { title: "by", value: (one) => one.requested_by, spare: 1 },
  { title: "settled", value: (one) => shown(one.settled_at && moment(one.settled_at)) },
];

const RECORD = "reference, partner, amount_cents, currency, status, requested_by, created_at, settled_at";

export default command({
  target: "operator",
  effects:
    "list reads only. credit raises the balance by what was announced, once, with the request's reference in the " +
    "ledger; cancel ends a request without money. One that is settled is refused (exit code 1).",
  json:
    `list: {data: [{${RECORD}}], count}; credit and cancel: the record without partner, after a credit also ` +
    "transaction_id, balance_after_cents",
  examples: [
    "wallet funding list --status requested",
    "wallet funding credit FND-7KQ2M9XB",
    "wallet funding cancel FND-7KQ2M9XB",
  ],
  args: { act: actArgument, reference: optionalArgument("reference", "FND-…, of the request to credit or cancel") },
  options: {
    partner: text("--partner <slug>", "only of this partner (list)"),
    status: choice("--status <status>", fundingStatuses, "only in this status (list)"),
    limit: integer("--limit <n>", "most that are listed, newest first (default 100)", { min: 1, max: 10_000 }),
  },
  async run(context, { act, reference, ...filter }) {
    if (act === "list") {
      if (reference !== undefined) throw usageError("list takes no reference.", "Leave it out.");
      return listed(context, filter);
    }
    if (reference === undefined) throw usageError("No request was named.", `Type wallet funding ${act} FND-….`);
    if (Object.values(filter).some((given) => given !== undefined)) {
      throw usageError(`${act} takes no --partner, --status or --limit.`, "The reference names one request.");
    }
    return settled(context, act, reference);
  },
});

type Filter = { partner: string | undefined; status: ListedFunding["status"] | undefined; limit: number | undefined };

async function listed(context: Context, { partner, status, limit = 100 }: Filter): Promise<Result> {
  const [{ fundingRequests }, { requirePartner }] = await Promise.all([
    import("../../../core/wallet/list-funding.ts"),
    import("../../../core/partners/partner.ts"),
  ]);
  const data = await context.withStore(async ({ store }) => {
    const partnerId = partner === undefined ? undefined : (await store.read(requirePartner, partner)).id;
    return store.read(fundingRequests, { partnerId, status, limit });
  });
  return {
    json: { data, count: data.length },
    rows: data,
    text: (sheet) => sheet.table(columns, data, "No money is announced."),
  };
}

async function settled(context: Context, act: "credit" | "cancel", reference: string): Promise<Result> {
  const { cancelFunding, creditFunding } = await import("../../../core/wallet/funding.ts");
  const input = { reference, actor: OPERATOR };
  return context.withStore(async ({ store }) => {
    if (act === "cancel") {
      const request = await store.write(cancelFunding, input);
      return recordResult(request, (sheet) => viewOf(request, sheet));
    }
    const { request, ...credited } = await store.write(creditFunding, input);
    return recordResult({ ...request, ...credited }, (sheet) => ({
      ...viewOf(request, sheet),
      balance: sheet.money(credited.balance_after_cents, request.currency),
      transaction: credited.transaction_id,
    }));
  });
}

function viewOf({ reference, amount_cents, currency, status }: FundingRequest, sheet: Sheet) {
  return { reference, amount: sheet.money(amount_cents, currency), status };
}
