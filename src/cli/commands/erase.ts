import type { NamedPerson } from "../../core/erasure/person.ts";
import type { Found } from "../../core/erasure/survey.ts";
import { counted } from "../../core/kernel/counted.ts";
import { type Context, command } from "../frame/command.ts";
import { usageError } from "../kernel/errors.ts";
import { exitCodes } from "../kernel/exit-codes.ts";
import { flag, text } from "../kernel/input.ts";
import { readSecretArgument } from "../output/prompts.ts";
import type { Result } from "../output/result.ts";
import type { Column, Sheet } from "../output/sheet.ts";
import { moment } from "../output/words.ts";
import { OPERATOR } from "../place/operator.ts";

export default command({
  target: "operator",
  effects:
    "Shows which records name the person, without values, and asks; then it deletes their passports from the pools " +
    "and clears their data in finished activations and orders of all partners, in events and in texts. Several " +
    "options name the same person by several data; what any of them finds is erased. What is open is left and " +
    "reported: exit code 3. Money, order numbers, ICCIDs and states stay. Audit notes and ledger references are " +
    "never changed; where they name the person, they are listed as kept. Backups keep the person until you delete " +
    "them. Cut off, the same command goes on.",
  json:
    "{dry_run, records: [{kind, id, partner, environment, date, status, fields, state}], erased, open, kept, " +
    "emptied}; states: erasable (with --dry-run), erased, open, kept, left (interrupted)",
  examples: [
    "erase --email traveler@example.com --dry-run",
    "erase --passport - --country GBR",
    "erase --email traveler@example.com --phone +61491570156 --yes --json",
  ],
  exits: [exitCodes.someFailed],
  batches: true,
  args: {},
  options: {
    passport: text("--passport <number>", "their passport's number; - reads it from standard input or asks"),
    country: text("--country <code>", "with --passport: only of this country, such as GBR"),
    email: text("--email <address>", "their e-mail address; - as above"),
    phone: text("--phone <number>", "their telephone number, also the one of their SIM; - as above"),
    dryRun: flag("--dry-run", "show what would be erased, and change nothing"),
  },
  async run(context, { dryRun, country, ...typed }) {
    const named = { ...(await namedPerson(context, typed)), country };
    if (country !== undefined && named.passport === undefined) {
      throw usageError("--country goes with --passport.", "Name the passport's number too.");
    }
    const [{ personOf }, { surveyPerson }, { erasePerson }, { listPartners }, { eraseRemains }] = await Promise.all([
      import("../../core/erasure/person.ts"),
      import("../../core/erasure/survey.ts"),
      import("../../core/erasure/erase.ts"),
      import("../../core/partners/partner.ts"),
      import("../place/erase-remains.ts"),
    ]);
    const person = personOf(named);
    const signal = context.interruption;
    return context.withStore(async ({ store }) => {
      const found = await surveyPerson(store, person, signal);
      const slugs = new Map((await store.read(listPartners, null)).map(({ id, slug }) => [String(id), slug]));
      const records = found.map((one) => recordOf(one, slugs));
      const erasable = found.filter(({ state }) => state === "erasable");
      if (dryRun || erasable.length === 0)
        return resultOf({ records, dryRun, interrupted: signal.aborted, emptied: true });
      await context.confirm(`Permanently erase this person from ${counted(erasable.length, "record")}?`, {
        whose: "all partners",
        changes: async (sheet) => sheet.table(columns, records, ""),
      });
      const done = await erasePerson(store, { person, found, actor: OPERATOR, signal });
      const emptied = await eraseRemains(store, signal);
      const erased = new Set(done.map(({ kind, id }) => `${kind} ${id}`));
      const after = records.map((one): Shown => {
        return erased.has(`${one.kind} ${one.id}`) ? { ...one, state: "erased" } : one;
      });
      return resultOf({ records: after.map(leftOver), dryRun, interrupted: signal.aborted, emptied });
    });
  },
});

/** A record as it is printed. */
interface Shown extends Pick<Found, "kind" | "id" | "environment" | "date" | "status" | "fields"> {
  /** The partner's slug. */
  partner: string | null;
  state: Found["state"] | "erased" | "left";
}

function recordOf({ kind, id, partner_id, ...one }: Found, slugs: ReadonlyMap<string, string>): Shown {
  const { environment, date, status, fields, state } = one;
  const partner = partner_id === null ? null : (slugs.get(partner_id) ?? null);
  return { kind, id, partner, environment, date, status, fields, state };
}

/** What was erasable and is not erased was cut off, or another process has cleared it meanwhile. */
function leftOver(one: Shown): Shown {
  return one.state === "erasable" ? { ...one, state: "left" } : one;
}

/** What was typed for each datum; `-` is read. Throws a usage error where nothing is named, or more than one is `-`. */
async function namedPerson(
  { globals }: Pick<Context, "globals">,
  typed: Pick<NamedPerson, "passport" | "email" | "phone">,
): Promise<NamedPerson> {
  const given = Object.entries(typed).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw usageError("Name the person.", "Give --passport, --email or --phone.");
  if (given.filter(([, value]) => value === "-").length > 1) {
    throw usageError("Only one option can be -.", "Type the others, or run the command once for each.");
  }
  const read = (value: string | undefined, question: string) =>
    value === undefined ? undefined : readSecretArgument(value, question, globals);
  return {
    passport: await read(typed.passport, "Passport number:"),
    email: await read(typed.email, "E-mail address:"),
    phone: await read(typed.phone, "Telephone number:"),
  };
}

const columns: Column<Shown>[] = [
  { title: "what", value: ({ kind }) => kind.replaceAll("_", " ") },
  { title: "id", value: ({ id }) => id },
  { title: "partner", value: ({ partner }) => partner },
  { title: "environment", value: ({ environment }) => environment, spare: true },
  { title: "date", value: ({ date }) => moment(date), spare: true },
  { title: "status", value: ({ status }) => status },
  { title: "fields", value: ({ fields }) => fields.join(", "), wraps: true, spare: true },
  { title: "state", value: ({ state }) => state },
];

interface Outcome {
  records: readonly Shown[];
  dryRun: boolean;
  interrupted: boolean;
  /** False: a reader still keeps the old data in the database's files. */
  emptied: boolean;
}

function resultOf({ records, dryRun, interrupted, emptied }: Outcome): Result {
  const many = (state: Shown["state"]) => records.filter((one) => one.state === state).length;
  const [erased, open, kept] = [many("erased"), many("open"), many("kept")];
  const exitCode = interrupted ? exitCodes.interrupted : open > 0 ? exitCodes.someFailed : exitCodes.done;
  const words = [
    dryRun ? "Nothing was changed." : `Erased from ${counted(erased, "record")}.`,
    ...(open > 0 ? [`Open, and not erasable yet: ${open}. Run it again when they are finished or cancelled.`] : []),
    ...(kept > 0 ? [`Kept as evidence: ${kept}.`] : []),
    ...(emptied ? [] : ["A reader still keeps the old data in the database's files; serve removes it once that ends."]),
    ...(interrupted ? ["Interrupted: the same command goes on."] : []),
  ];
  return {
    json: { dry_run: dryRun, records, erased, open, kept, emptied },
    text: (sheet: Sheet) =>
      `${sheet.table(columns, records, "Nothing is recorded of this person.")}\n\n${words.join(" ")}`,
    exitCode,
  };
}
