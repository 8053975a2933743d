import type { PassportId } from "../../../core/kernel/brand.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { listMasked, listMaskedExpiring, type MaskedPassport, showMasked } from "../../../core/passports/masked.ts";
import { withdrawPassport } from "../../../core/passports/withdraw.ts";
import { actPage } from "../../parts/act-page.tsx";
import { ActButton } from "../../parts/form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { backLink, type Fields, LinkButton, pageShown, record } from "../../parts/shown.tsx";
import { momentsIn } from "../../parts/timeline.tsx";
import { portalPage } from "../../session/page.ts";
import { chosen, field, idIn, type PortalVisit, type Shown } from "../../session/visit.ts";
import { historyShown } from "./history.tsx";

const columns: Column<MaskedPassport>[] = [
  { title: "Number", cell: (one) => ({ text: numberWords(one), to: `/passports/${one.id}` }) },
  { title: "Country", cell: (one) => one.passport_country },
  { title: "Name", cell: (one) => one.name },
  { title: "Expires", cell: (one) => one.passport_expiry },
  { title: "Your reference", cell: (one) => one.reference },
  { title: "Added", cell: (one) => ({ time: one.created_at }) },
];

function numberWords({ number }: MaskedPassport): string {
  return number ?? "unreadable";
}

function passportsPage(visit: PortalVisit): Promise<Shown> {
  const { query, owner, store } = visit;
  const isWhole = field(query, "passport_no") === "";
  const isSoon = chosen(query, "expires", ["soon"]) !== undefined;
  const list = isSoon ? listMaskedExpiring : listMasked;
  const none = isSoon ? "No passport expires within 60 days." : "The pool is empty.";
  return listed(visit, {
    ...{ path: "/passports", title: "Passports", columns },
    filters: [
      { name: "passport_no", label: "Passport number, whole" },
      { name: "expires", label: "Expires", options: [["soon", "within 60 days"]] },
    ],
    read: (page, { passport_no }) => store.list(list, { ...owner, ...page, passport_no }),
    empty: isWhole ? none : "No passport of the pool has exactly this number.",
    above: visit.may("passports.write") && (
      <p>
        <LinkButton visit={visit} to="/passports/import" words="Import a file" main />
      </p>
    ),
  });
}

/** A partner without an agent record has no pool: that is said in place of an error. */
export function poolPage(page: (visit: PortalVisit) => Promise<Shown>): (visit: PortalVisit) => Promise<Shown> {
  return async (visit) => {
    try {
      return await page(visit);
    } catch (error) {
      if (!(error instanceof Problem) || error.slug !== "no_agent_record") throw error;
      const words =
        "A pool of passports is for agents who activate SIMs for their travelers. Ask the operator for an agent " +
        "record to have one.";
      return pageShown(visit, "Passports", <p class="empty">{words}</p>);
    }
  };
}

const passportIn = (visit: PortalVisit): Promise<MaskedPassport> =>
  visit.store.read(showMasked, { owner: visit.owner, id: idIn<PassportId>(visit) });

async function passportPage(visit: PortalVisit): Promise<Shown> {
  const one = await passportIn(visit);
  const fields: Fields = [
    ["Country", one.passport_country],
    ["Name", one.name],
    ["Expires", one.passport_expiry],
    ["Your reference", one.reference],
    ["Status", { status: one.status }],
    ["Added", { time: one.created_at }],
    ["Changed", { time: one.updated_at }],
    ["ID", one.id],
  ];
  const withdraw = visit.may("passports.write") && (
    <ActButton visit={visit} to={`/passports/${one.id}/withdraw`} label="Withdraw" kind="bad" />
  );
  return pageShown(visit, `Passport ${numberWords(one)}`, [
    record(visit, fields, withdraw),
    <p class="hint">Number and names are masked here; the API answers the whole record to your program.</p>,
    await historyShown(visit, one, momentsIn("passport", [[one.created_at, "added"]])),
    backLink(visit, "/passports", "All passports"),
  ]);
}

const withdrawing = actPage({
  ...{ verb: "withdraw", button: "Withdraw it", bad: true, command: withdrawPassport },
  read: passportIn,
  at: ({ id }) => `/passports/${id}`,
  title: (one) => `Withdraw passport ${numberWords(one)}?`,
  input: ({ owner }, { id }) => ({ owner, id }),
  foresee: () => (
    <p>It is drawn no more and leaves the pool. It cannot be undone; the same document can be added again.</p>
  ),
  done: () => ({ to: "/passports", notice: "The passport is withdrawn." }),
});

const at = "/passports/:id";

export const passportPages = [
  portalPage({ path: "/passports", needs: "passports.read", show: poolPage(passportsPage) }),
  portalPage({ path: at, needs: "passports.read", show: poolPage(passportPage) }),
  portalPage({ path: `${at}/withdraw`, needs: "passports.write", ...withdrawing, again: passportPage }),
];
