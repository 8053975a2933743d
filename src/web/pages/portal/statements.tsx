import { statementFile, statementsShown } from "../../parts/statements.tsx";
import { portalPage } from "../../session/page.ts";

const path = "/wallet/statements";

export const statementPages = [
  portalPage({
    path,
    needs: "wallet.read",
    show: (visit) => statementsShown(visit, { path, title: "Statements", partnerId: visit.owner.partnerId }),
  }),
  portalPage({
    path: `${path}/:month`,
    needs: "wallet.read",
    show: (visit) => statementFile(visit, visit.owner.partnerId),
  }),
];
