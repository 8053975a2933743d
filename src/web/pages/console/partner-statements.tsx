import { requirePartner } from "../../../core/partners/partner.ts";
import { statementFile, statementsShown } from "../../parts/statements.tsx";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";
import { PartnerLinks, slugOf } from "./partner-links.tsx";

async function statementsPage(visit: ConsoleVisit): Promise<Shown> {
  const slug = slugOf(visit);
  const { id: partnerId, name } = await visit.store.read(requirePartner, slug);
  return statementsShown(visit, {
    ...{ partnerId, path: `/partners/${slug}/wallet/statements`, title: `Statements of ${name}` },
    above: <PartnerLinks visit={visit} slug={slug} />,
  });
}

async function filePage(visit: ConsoleVisit): Promise<Shown> {
  return statementFile(visit, (await visit.store.read(requirePartner, slugOf(visit))).id);
}

const at = "/partners/:slug/wallet/statements";

export const partnerStatementPages = [
  consolePage({ path: at, needs: "money.read", show: statementsPage }),
  consolePage({ path: `${at}/:month`, needs: "money.read", show: filePage }),
];
