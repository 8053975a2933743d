import { findStory } from "../../../core/find/find.ts";
import { maskedNumberOf } from "../../../core/find/subjects.ts";
import type { PassportId } from "../../../core/kernel/brand.ts";
import {
  findPassports,
  type OperatorPassport,
  passportUses,
  showPassport,
  verificationQueue,
} from "../../../core/passports/operator-view.ts";
import { requirePassport } from "../../../core/passports/passport.ts";
import type { Read } from "../../../core/store/store.ts";
import { formShown } from "../../parts/act-form.tsx";
import { ActButton } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { type Fields, links, pageShown, record, table } from "../../parts/shown.tsx";
import type { Cell } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, idIn, requiredField, type Shown } from "../../session/visit.ts";
import { timelineShown } from "./history.tsx";
import { personWords } from "./masked.ts";
import { passportActPages } from "./passport-acts.tsx";

function nameOf({ first_name, last_name }: OperatorPassport): string {
  return `${first_name} ${last_name}`;
}

function stateOf({ withdrawn_at, verification }: OperatorPassport): Cell {
  return { status: withdrawn_at === null ? verification : "withdrawn" };
}

const columns: readonly Column<OperatorPassport>[] = [
  { title: "Reference", cell: (one) => ({ text: one.reference ?? one.id, to: `/passports/${one.id}` }) },
  { title: "Partner", cell: (one) => one.partner },
  { title: "Environment", cell: (one) => one.environment },
  { title: "Holder", cell: (one) => personWords(nameOf(one)) },
  { title: "Country", cell: (one) => one.passport_country },
  { title: "Expires", cell: (one) => one.passport_expiry },
  { title: "Verification", cell: stateOf },
  { title: "Received", cell: (one) => ({ time: one.created_at }) },
];

/** Numbers stay out of addresses and logs: what is searched for is sent in the body, and not shown again. */
function searchForm(visit: ConsoleVisit) {
  const number = { name: "number", label: "Passport number", hint: "All of it, of any pool.", required: true };
  const form = { to: "/passports/search", class: "filters", fields: [number], submit: "Search" };
  return <section>{formShown({ ...visit, form: {} }, form)}</section>;
}

function passportsPage(visit: ConsoleVisit): Promise<Shown> {
  return listed(visit, {
    title: "Passports to verify",
    path: "/passports",
    caption: "Passports that await verification, oldest first",
    columns,
    read: async (page) => {
      const { data, next_cursor } = await visit.store.list(verificationQueue, page);
      return { rows: data, next: next_cursor };
    },
    empty: "Nothing awaits verification.",
    above: searchForm(visit),
  });
}

async function searchPage(visit: ConsoleVisit): Promise<Shown> {
  const rows = await visit.store.read(findPassports, requiredField(visit.form, "number"));
  const title = "Passports of a number";
  const found = table(visit, { caption: title, rows, empty: "No passport has this number." }, columns);
  return pageShown(visit, title, [searchForm(visit), found]);
}

/** A passport with its draws and its history, on one snapshot. Throws `not_found`. */
async function seenPassport(q: Read, id: PassportId) {
  const passport = await showPassport(q, id);
  const number = maskedNumberOf(q, await requirePassport(q, id));
  const { timeline } = await findStory(q, id);
  return { passport, number, uses: await passportUses(q, id), timeline };
}

async function passportPage(visit: ConsoleVisit): Promise<Shown> {
  const seen = await visit.store.read(seenPassport, idIn(visit) as PassportId); // the database decides
  const { passport, uses, timeline } = seen;
  const at = `/passports/${passport.id}`;
  const isOpen = passport.withdrawn_at === null && visit.may("passports.write");
  const verdicts = [[`${at}/verify`, "Verify"] as const, [`${at}/reject`, "Reject"] as const];
  const acts = [
    ...(isOpen ? links(visit, verdicts) : []),
    visit.may("reveal") && <ActButton visit={visit} to={`${at}/reveal`} label="Reveal the identity" />,
  ];
  const body = (
    <>
      {record(visit, passportFields(seen), acts)}
      {table(visit, { title: "Draws", caption: "Draws of the passport", rows: uses, empty: "It was never drawn." }, [
        { title: "Drawn", cell: (use) => ({ time: use.drawn_at }) },
        { title: "Carrier", cell: (use) => use.carrier },
        {
          title: "Request",
          cell: ({ request_id: id }) => ({ text: id, to: `/activations/${id}` }),
        },
        { title: "By", cell: (use) => use.actor },
        { title: "Released", cell: (use) => ({ time: use.released_at }) },
      ])}
      {await timelineShown(visit, timeline)}
    </>
  );
  return pageShown(visit, `Passport ${passport.reference ?? passport.id}`, body);
}

type Seen = Awaited<ReturnType<typeof seenPassport>>;

const passportFields = ({ passport: one, number }: Seen): Fields => [
  ["Verification", stateOf(one)],
  ["Rejected for", one.rejection],
  ["Partner", `${one.partner} (${one.environment})`],
  ["Holder", personWords(nameOf(one))],
  ["Number", number],
  ["Country", one.passport_country],
  ["Expires", one.passport_expiry],
  ["Onshore", one.onshore ? "yes" : "no"],
  ["Uses", one.uses],
  ["Received", { time: one.created_at }],
  ["Withdrawn", { time: one.withdrawn_at }],
  ["ID", one.id],
];

const needs = "passports.read";
const toList = () => ({ to: "/passports" });

export const consolePassportPages = [
  consolePage({ path: "/passports", needs, show: passportsPage }),
  consolePage({ path: "/passports/search", needs, show: toList, act: searchPage, again: passportsPage }),
  consolePage({ path: "/passports/:id", needs, show: passportPage }),
  ...passportActPages,
];
