import type { ListedActivation } from "../../../core/activations/list-all.ts";
import { isoTime, systemClock } from "../../../core/kernel/clock.ts";
import { activationStatuses } from "../../../core/store/schema/values.ts";
import type { Activation } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { dataListing } from "../../client/pages.ts";
import { allPartnersOptions, isOfAllPartners, listOfAllPartners, timesOf } from "../../frame/all-partners.ts";
import { command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { choice, text } from "../../kernel/input.ts";
import type { Column } from "../../output/sheet.ts";
import { waitingWords } from "../../output/words.ts";
import { dateOption, datesOf, datesQuery, rangeOptions } from "./by-date.ts";
import { ACTIVATION_JSON, activationColumns } from "./view.ts";

/** The states of docs/states.md: two of them are only in how far the carrier is. */
const statuses = [...activationStatuses, "confirmed", "manual_required"] as const;

function statusQuery(status: (typeof statuses)[number] | undefined) {
  return status === "confirmed" || status === "manual_required" ? { processing_status: status } : { status };
}

export default command({
  target: "partner",
  shows: "rows",
  effects:
    "Reads only. On the operator's data, without --partner or with --since, --until or --customer: requests with " +
    "whom each waits for, of all partners or of one.",
  json:
    `the API's body: {data: [${ACTIVATION_JSON}], count, pagination}; over all partners also of each request ` +
    "{partner, environment, waiting: {for, act, on, since} or null}",
  examples: [
    "activations list --since 7d --status failed",
    "activations list --from 2027-12-20 --to 2027-12-27 --partner acme",
    "activations list --customer underwold --csv",
    "activations list --partner acme --status pending --all --json",
  ],
  args: {},
  options: {
    ...allPartnersOptions,
    ...rangeOptions,
    date: dateOption("activation date this day"),
    iccid: text("--iccid <iccid>", "only this SIM"),
    status: choice("--status <status>", statuses, "only this status; confirmed and manual_required are processing's"),
  },
  async run(context, { iccid, status, from, to, date, ...given }) {
    const dates = datesQuery(datesOf({ from, to }, date));
    const times = timesOf(given, systemClock.now());
    const isTimed = times.since !== undefined || times.until !== undefined;
    if (isTimed || (await isOfAllPartners(context, given))) {
      if (isTimed && (await context.where()).kind === "server") throw timesAtServer();
      const { listAllActivations } = await import("../../../core/activations/list-all.ts");
      const filter = { ...statusQuery(status), iccid, ...dates, ...times, customer: given.customer };
      const columns = allColumns(isoTime(systemClock.now()));
      const listed = { filter, page: listAllActivations, columns, empty: "No activations." };
      return listOfAllPartners(context, given, listed);
    }
    const { limit, cursor, all } = given;
    const query = { limit, cursor, iccid, ...statusQuery(status), ...dates };
    const asked = { path: apiPath`/activations`, query, all };
    const look = { columns: activationColumns, empty: "No activations.", counts: true };
    return context.withApi((api) => context.print(dataListing<Activation>(api, asked, look)));
  },
});

function timesAtServer(): CliError {
  const hint = "A server's list is newest first: leave them out, and use --status or --limit.";
  return new CliError("operator_only", "--since and --until of activations work on the operator's data only.", hint);
}

function allColumns(now: string): Column<ListedActivation>[] {
  return [
    { title: "partner", value: (one) => one.partner },
    ...activationColumns,
    { title: "waiting", value: (one) => waitingWords(one.waiting, now), wraps: true, spare: true },
  ];
}
