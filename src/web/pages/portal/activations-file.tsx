import type { NewActivation } from "../../../core/activations/submit.ts";
import { submitLinesInVain, submitOwn } from "../../../core/activations/submit-own.ts";
import { plainDigits } from "../../../core/kernel/iccid.ts";
import { identityNames, simNames } from "../../../core/kernel/identity-fields.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { refusalWords } from "../../../core/kernel/refusal-words.ts";
import { itemProblem } from "../../../daemon/plugins/refusals.ts";
import { type FileRow, MOST_ROWS } from "../../parts/csv-file.ts";
import { fileItemsPage } from "../../parts/file-page.tsx";
import { portalPage } from "../../session/page.ts";
import { field, type PortalVisit } from "../../session/visit.ts";
import { customerNames, readActivation } from "./activation-form.tsx";

/** The columns of `esimctl activations submit`, so that one file serves both. */
const columns = [
  "iccid",
  "activation_date",
  ...identityNames,
  ...simNames,
  ...customerNames,
  "confirm_date_change",
] as const;
type Row = FileRow<(typeof columns)[number]>;

/** A line of the file and what would become of it, or what became of it. */
interface Line {
  line: number;
  iccid: string;
  date: string;
  outcome: "new" | "there" | "refused";
  /** Why it is refused, or who gets it. */
  words: string;
}

/** A row that may be submitted, and whether also where it was cancelled, or failed, before. */
interface Good {
  line: number;
  request: NewActivation;
  again: boolean;
}

const yes = new Set(["yes", "true", "1", "y"]);
const no = new Set(["", "no", "false", "0", "n"]);

/** The request of a row, its shape checked. Throws `validation`. */
function requestOf({ values, fault }: Row): NewActivation {
  if (fault !== null) throw new Problem("validation", fault);
  const { confirm_date_change, ...others } = values;
  const given = Object.entries({ ...others, iccid: plainDigits(values.iccid) }).filter(([, value]) => value !== "");
  const confirm = confirm_date_change.toLowerCase();
  // Another word is the schema's to refuse.
  const replaces = yes.has(confirm) ? true : no.has(confirm) ? false : confirm;
  return readActivation({ ...Object.fromEntries(given), confirm_date_change: replaces });
}

function readRow(row: Row, again: boolean): Good | Line {
  const { line, values } = row;
  try {
    return { line, request: requestOf(row), again };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const words = refusalWords(error);
    return { line, iccid: values.iccid, date: values.activation_date, outcome: "refused", words };
  }
}

function lineOf({ line, request }: Good, outcome: Line["outcome"], words: string): Line {
  return { line, iccid: request.iccid, date: request.activation_date, outcome, words };
}

function submissionOf({ owner }: PortalVisit, { request, again }: Good) {
  return { ...owner, request, again };
}

async function check(visit: PortalVisit, rows: readonly Row[]) {
  const again = field(visit.form, "again") !== "";
  const read = rows.map((row) => readRow(row, again));
  const readable = read.filter((one) => "request" in one);
  const submissions = readable.map((one) => ({ ...submissionOf(visit, one), actor: visit.actor }));
  const outcomes = (await visit.store.rehearse(submitLinesInVain, { lines: submissions })).values();
  const good: Good[] = [];
  const lines = read.map((one): Line => {
    if (!("request" in one)) return one;
    const { value: outcome } = outcomes.next();
    if (outcome?.status !== "submitted") return lineOf(one, "refused", outcome?.message ?? "");
    good.push(one);
    return lineOf(one, outcome.replayed ? "there" : "new", outcome.activation.carrier);
  });
  return { good, lines };
}

/** What becomes of a row is the same, however often the form is sent: ICCID and date identify a request. */
async function submitOne(visit: PortalVisit, one: Good): Promise<Line> {
  try {
    const { replayed, activation } = await visit.write(submitOwn, submissionOf(visit, one));
    return lineOf(one, replayed ? "there" : "new", activation.carrier);
  } catch (error) {
    const problem = itemProblem(error, visit.request, "This row could not be submitted; send the file again later.");
    return lineOf(one, "refused", refusalWords(problem));
  }
}

const outcomeWords = { new: "submitted", there: "there already, nothing changes", refused: "refused" } as const;

const page = fileItemsPage({
  path: "/activations/file",
  title: "Activations from a file",
  about: (
    <>
      <p>
        A CSV file with at most {MOST_ROWS} rows, one for each SIM. What would become of each row is shown before
        anything is submitted. A row without a passport number draws from your pool.
      </p>
      <details>
        <summary>Columns</summary>
        <p>
          <code class="wrap">{columns.join(", ")}</code>
        </p>
      </details>
    </>
  ),
  hint: "The first line names the columns. iccid and activation_date are needed; the carrier says what else.",
  button: "Show what would happen",
  fields: () => [[{ tick: "again", label: "Also what was cancelled, or failed, for the same date before" }], []],
  all: ["/activations", "All activations"],
  words: { item: "row", act: "Submit", done: "submitted" },
  columns,
  check,
  one: submitOne,
  isRefused: ({ outcome }: Line) => outcome === "refused",
  table: [
    { title: "Line", right: true, cell: (one) => one.line },
    { title: "ICCID", cell: (one) => one.iccid },
    { title: "Date", cell: (one) => one.date },
    { title: "Then", cell: (one) => outcomeWords[one.outcome] },
    { title: "Carrier, or why not", cell: (one) => one.words },
  ],
});

export const activationFilePages = [portalPage({ ...page, needs: "activations.write" })];
