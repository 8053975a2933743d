import type { PassportId } from "../../../core/kernel/brand.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import { listMasked, listMaskedExpiring, type MaskedPassport, showMasked } from "../../../core/passports/masked.ts";
import { withdrawPassport } from "../../../core/passports/withdraw.ts";
import { consequenceShown, isConfirmed } from "../../parts/consequence.tsx";
import { ActButton } from "../../parts/form.tsx";
import { type Column, Record } from "../../parts/list.tsx";
import { portalPage } from "../../session/page.ts";
import { chosen, idIn, optionalField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { ownList, titled } from "./own-pages.tsx";

const columnsOf = ({ base }: PortalVisit): Column<MaskedPassport>[] => [
  { title: "Number", cell: (one) => ({ text: numberWords(one), href: `${base}/passports/${one.id}` }) },
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
  const passport_no = optionalField(query, "passport_no");
  const isSoon = chosen(query, "expires", ["soon"]) !== undefined;
  const list = isSoon ? listMaskedExpiring : listMasked;
  const all = isSoon ? "No passport expires within 60 days." : "The pool is empty.";
  const above = visit.may("passports.write") && (
    <p>
      <a class="button" href={`${visit.base}/passports/import`}>
        Import a file
      </a>
    </p>
  );
  return ownList(visit, {
    path: "/passports",
    title: "Passports",
    columns: columnsOf(visit),
    filters: [
      { name: "passport_no", label: "Passport number, whole" },
      { name: "expires", label: "Expires", options: [["soon", "within 60 days"]] },
    ],
    read: (page) => store.list(list, { ...owner, ...page, passport_no }),
    empty: passport_no === undefined ? all : "No passport of the pool has exactly this number.",
    above,
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
      return titled(visit, "Passports", { body: <p class="empty">{words}</p> });
    }
  };
}

async function passportPage(visit: PortalVisit): Promise<Shown> {
  const one = await visit.store.read(showMasked, { owner: visit.owner, id: idIn<PassportId>(visit) });
  const body = (
    <section>
      <Record
        visit={visit}
        fields={[
          ["Country", one.passport_country],
          ["Name", one.name],
          ["Expires", one.passport_expiry],
          ["Your reference", one.reference],
          ["Status", { status: one.status }],
          ["Added", { time: one.created_at }],
          ["Changed", { time: one.updated_at }],
          ["ID", one.id],
        ]}
      />
      {visit.may("passports.write") && (
        <div class="acts">
          <ActButton visit={visit} to={`/passports/${one.id}/withdraw`} label="Withdraw" kind="bad" />
        </div>
      )}
      <p class="hint">Number and names are masked here; the API answers the whole record to your program.</p>
    </section>
  );
  return titled(visit, `Passport ${numberWords(one)}`, { body, back: ["/passports", "All passports"] });
}

async function withdraw(visit: PortalVisit): Promise<Shown> {
  const { store, owner, actor, request } = visit;
  const asked = { owner, id: idIn<PassportId>(visit), actor };
  if (isConfirmed(visit)) {
    await store.write(withdrawPassport, asked, request.id, owner);
    return { to: "/passports", notice: "The passport is withdrawn." };
  }
  await store.rehearse(withdrawPassport, asked);
  const one = await store.read(showMasked, asked);
  return consequenceShown(visit, {
    title: `Withdraw passport ${numberWords(one)}?`,
    to: `/passports/${one.id}/withdraw`,
    carried: [],
    act: "Withdraw it",
    kind: "bad",
    back: `/passports/${one.id}`,
    children: (
      <p>It is drawn no more and leaves the pool. It cannot be undone; the same document can be added again.</p>
    ),
  });
}

const at = "/passports/:id";

export const passportPages = [
  portalPage({ path: "/passports", needs: "passports.read", show: poolPage(passportsPage) }),
  portalPage({ path: at, needs: "passports.read", show: poolPage(passportPage) }),
  portalPage({ path: `${at}/withdraw`, needs: "passports.write", act: withdraw, again: passportPage }),
];
