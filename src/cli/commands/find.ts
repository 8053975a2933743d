import type { ActivationId, PassportId } from "../../core/kernel/brand.ts";
import type { Match, Story } from "../../core/operations/find/find.ts";
import type { Store } from "../../core/store/store.ts";
import { command } from "../command.ts";
import { OPERATOR } from "../context.ts";
import { argument, flag } from "../input.ts";
import { clean } from "../output/clean.ts";
import { readSecretArgument } from "../output/prompts.ts";
import type { Column, Sheet } from "../output/sheet.ts";
import { moment, statusPaint } from "../output/words.ts";

export const find = command({
  name: "find",
  summary: "the whole story of an ICCID, order, e-mail address, passport number or id",
  stand: "operator",
  effects:
    "Reads only. Passport numbers are masked; --reveal shows them whole, and each one shown is in the audit trail. " +
    "Ids of lines, items, events, deliveries and ledger transactions lead to their order too.",
  json:
    "{matched: [{kind, id, name, partner, environment, status, passport_no}], " +
    "timeline: [{at, kind, id, text}]}; kinds there: order, money, item, esim, activation, carrier, webhook, " +
    "passport, audit",
  examples: [
    "find 8944500102198304826",
    "find ORD-20260301-7K2M9Q",
    "find traveller@example.com --json",
    "find - --reveal",
  ],
  args: {
    what: argument("what", "what is known of it; - reads it from standard input or asks without showing it", "secret"),
  },
  options: { reveal: flag("--reveal", "passport numbers whole; recorded in the audit trail") },
  async run(context, { what, reveal }) {
    const typed = await readSecretArgument(what, "ICCID, order, e-mail, passport number or id:", context.globals);
    const { findStory } = await import("../../core/operations/find/find.ts");
    const story = await context.withStore(async ({ store }) => {
      const masked = await store.read(findStory, typed);
      return reveal ? { ...masked, matched: await revealed(store, masked.matched) } : masked;
    });
    return { json: story, text: (sheet) => shownStory(sheet, story) };
  },
});

/** The matches with their passport numbers whole. */
async function revealed(store: Store, matched: readonly Match[]): Promise<Match[]> {
  const [{ revealActivation }, { revealPassport }] = await Promise.all([
    import("../../core/activations/reveal.ts"),
    import("../../core/passports/reveal.ts"),
  ]);
  const numberOf = async ({ kind, id }: Match): Promise<string | null> => {
    // Ids that the database itself just answered for rows of this kind.
    if (kind === "passport") {
      const identity = await store.write(revealPassport, { id: id as PassportId, actor: OPERATOR });
      return identity.reveal().passport_no;
    }
    const { identity } = await store.write(revealActivation, { id: id as ActivationId, actor: OPERATOR });
    return identity?.reveal().passport_no ?? null;
  };
  const whole: Match[] = [];
  for (const match of matched) {
    whole.push(match.passport_no === null ? match : { ...match, passport_no: await numberOf(match) });
  }
  return whole;
}

const columns: Column<Match>[] = [
  { title: "what", value: ({ kind }) => kind },
  { title: "name", value: ({ name }) => name },
  { title: "partner", value: ({ partner }) => partner },
  { title: "environment", value: ({ environment }) => environment },
  { title: "status", value: ({ status }) => status, paint: (sheet, { status }) => statusPaint(sheet, status) },
  { title: "passport", value: ({ passport_no }) => passport_no },
  { title: "id", value: ({ id }) => id },
];

function shownStory(sheet: Sheet, { matched, timeline }: Story): string {
  const lines = timeline.map(({ at, kind, text }) => {
    return `${sheet.paint.dim(moment(at))}  ${sheet.paint.cyan(kind.padEnd(10))}  ${clean(text)}`;
  });
  return `${sheet.table(columns, matched, "")}\n\n${lines.join("\n")}`;
}
