import type { ComponentChildren } from "preact";
import type { ConsolePermission } from "../../../core/accounts/roles.ts";
import { findStory, foundNothing, type Match, type Story } from "../../../core/find/find.ts";
import type { SubjectKind } from "../../../core/find/subjects.ts";
import { formShown } from "../../parts/act-form.tsx";
import type { Column } from "../../parts/list.tsx";
import { pageShown, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, requiredField, type Shown } from "../../session/visit.ts";
import { timelineShown } from "./history.tsx";
import { personWords, withoutPhones } from "./masked.ts";

/** What a role has to have to see a match of a kind, and the page of one. */
const kinds: Readonly<Record<SubjectKind, { needs: ConsolePermission; path(match: Match): string }>> = {
  order: { needs: "orders.read", path: ({ id }) => `/orders/${id}` },
  esim: { needs: "esims.read", path: ({ name }) => `/esims/${name}` },
  activation: { needs: "activations.read", path: ({ id }) => `/activations/${id}` },
  passport: { needs: "passports.read", path: ({ id }) => `/passports/${id}` },
};

/** Kinds of moments that belong to an order. */
const ofOrders = new Set(["order", "money", "item", "supplier"]);

/** What of a story the role may see. */
function seenOf({ may }: ConsoleVisit, story: Story): Story {
  const sees = (kind: SubjectKind) => may(kinds[kind].needs);
  const matched = story.matched.filter(({ kind }) => sees(kind));
  if (matched.length === story.matched.length) return story;
  const ids = new Set(matched.map(({ id }) => id));
  const timeline = story.timeline.filter(({ kind, id }) => ofOrders.has(kind) || ids.has(id));
  return { ...story, matched, timeline, truncated: story.truncated.filter(sees) };
}

const columns: readonly Column<Match>[] = [
  { title: "What", cell: ({ kind }) => (kind === "esim" ? "eSIM" : kind) },
  {
    title: "Name",
    cell: (match) => ({ text: match.name, to: kinds[match.kind].path(match) }),
  },
  { title: "Partner", cell: ({ partner }) => partner },
  { title: "Environment", cell: ({ environment }) => environment },
  { title: "Status", cell: ({ status }) => ({ status }) },
  { title: "Person", cell: ({ person }) => personWords(person) },
  { title: "Passport", cell: ({ passport_no }) => passport_no },
];

const hint = "A name, a telephone, e-mail, order, passport or tracking number, an ICCID or its end, or an id.";

async function page(visit: ConsoleVisit, story: Story | null, note?: string): Promise<Shown> {
  const what = { name: "what", label: "What to find", type: "search", hint, required: true };
  const body = (
    <>
      {/* What was typed may be a passport number: it is not shown again. */}
      <section>{formShown({ ...visit, form: {} }, { to: "/find", fields: [what], submit: "Find" })}</section>
      {note !== undefined && <p>{note}</p>}
      {story !== null && (await found(visit, story))}
    </>
  );
  return pageShown(visit, "Find", body);
}

async function found(
  visit: ConsoleVisit,
  { matched, timeline, ambiguous, truncated }: Story,
): Promise<ComponentChildren> {
  const caption = "What was found";
  return [
    ambiguous && <p class="alert">Several fit. Open the one that is meant.</p>,
    ...truncated.map((kind) => <p class="hint">There may be more of kind {kind}; the newest 50 at most are listed.</p>),
    table(visit, { title: "Found", caption, rows: matched, empty: "No record that your role sees." }, columns),
    await timelineShown(visit, withoutPhones(timeline)),
  ];
}

async function find(visit: ConsoleVisit): Promise<Shown> {
  const what = requiredField(visit.form, "what");
  try {
    return page(visit, seenOf(visit, await visit.store.read(findStory, what)));
  } catch (error) {
    if (!foundNothing(error)) throw error;
    return page(visit, null, error.message);
  }
}

const blank = (visit: ConsoleVisit) => page(visit, null);

export const consoleFindPages = [consolePage({ path: "/find", needs: "orders.read", show: blank, act: find })];
