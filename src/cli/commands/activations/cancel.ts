import { counted } from "../../../core/kernel/counted.ts";
import type { Activation, ActivationBulkResult, ActivationOutcome } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { activationChangesCsv } from "../../csv/specs.ts";
import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { flag, text } from "../../kernel/input.ts";
import { datedTargets, dateOption, datesOf, rangeOptions } from "./by-date.ts";
import { type Change, changeAll, pathOf } from "./changes.ts";
import { confirmChange, previewChange } from "./preview.ts";
import { ownerOfTargets, pickTargets, readTargets, type TargetItem, targetArgs, targetOptions } from "./targets.ts";
import { BULK_JSON, DRY_RUN_JSON } from "./view.ts";

export default command({
  target: "partner",
  effects:
    "Cancels each for itself; draws go back to the pool and the SIMs are free again. Asks first for " +
    "several, and for those that dates name.",
  json: `${BULK_JSON}; ${DRY_RUN_JSON}`,
  examples: [
    "activations cancel 019c… --partner acme",
    "activations cancel --partner acme",
    "activations cancel --iccid 8961032200826199583 --partner acme --reason typo",
    "activations cancel --file cancel.csv --partner acme --yes --json",
    "activations cancel --date 2027-12-24 --partner acme --dry-run",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  csv: activationChangesCsv,
  args: targetArgs,
  options: {
    ...targetOptions,
    ...rangeOptions,
    date: dateOption("those with this activation date"),
    reason: text("--reason <text>", "kept with the requests"),
    dryRun: flag("--dry-run", "show what would be cancelled, and change nothing"),
  },
  async run(context, { ids, iccids, file, from, to, date, reason, dryRun, ...reading }) {
    const dates = datesOf({ from, to }, date);
    const named = await readTargets(context, { ids, iccids, file, reading, dated: dates !== null });
    return context.withApi(async (api) => {
      const chosen = () => (dates === null ? pickTargets(context, api) : datedTargets(context, api, dates));
      const targets = named ?? (await chosen());
      const { items } = targets;
      if (dryRun) return previewChange(context, api, targets);
      if (named === null || items.length > 1) {
        await confirmChange(context, api, targets, `Cancel ${counted(items.length, "activation")}?`);
      }
      return changeAll(context, api, targets, cancelling(reason));
    }, ownerOfTargets(named));
  },
});

function cancelling(reason: string | undefined): Change {
  const said = reason === undefined ? {} : { reason };
  return {
    label: "Cancelling",
    done: "cancelled",
    many: (api, items) => cancelMany(api, items, said),
    one: async (api, item) => (await api.request<Activation>("POST", pathOf(item, "/cancel"), { body: said })).body,
  };
}

/** The API takes ids first, then ICCIDs; the outcomes are put back into the order of the items. */
async function cancelMany(api: Api, items: readonly TargetItem[], said: object): Promise<ActivationOutcome[]> {
  const activation_ids = items.flatMap(({ key }) => ("activation_id" in key ? [key.activation_id] : []));
  const iccids = items.flatMap(({ key }) => ("iccid" in key ? [key.iccid] : []));
  const body = { activation_ids, iccids, ...said };
  const answer = await api.request<ActivationBulkResult>("POST", apiPath`/activations/bulk/cancel`, { body });
  const byId = answer.body.results.slice(0, activation_ids.length).values();
  const byIccid = answer.body.results.slice(activation_ids.length).values();
  return items.flatMap(({ key }) => ("iccid" in key ? byIccid : byId).next().value ?? []);
}
