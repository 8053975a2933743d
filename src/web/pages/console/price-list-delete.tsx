import { counted } from "../../../core/kernel/counted.ts";
import { deletePriceList } from "../../../core/prices/delete-list.ts";
import { requirePriceList } from "../../../core/prices/lists.ts";
import { ABOUT_DELETING, KEPT_PRICES } from "../../../core/prices/words.ts";
import { actPage } from "../../parts/act-page.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, partIn } from "../../session/visit.ts";

const gone = actPage({
  read: (visit: ConsoleVisit) => visit.store.read(requirePriceList, partIn(visit, "list")),
  at: ({ name }) => `/prices/${encodeURIComponent(name)}`,
  ...{ verb: "delete", title: ({ name }) => `Delete the price list ${name}?` },
  ...{ button: "Delete the list", bad: true, fields: [], command: deletePriceList },
  input: (_visit, { name }) => ({ name }),
  foresee: ({ rules }) => (
    <p>
      It has {counted(rules, "rule")}, and no partner has it. {ABOUT_DELETING} {KEPT_PRICES}
    </p>
  ),
  done: ({ name }) => ({ to: "/prices", notice: `The price list ${name} is deleted.` }),
});

/** Where a price list that no partner has is deleted. */
export const priceListDeletePages = [consolePage({ path: "/prices/:list/delete", needs: "catalog.write", ...gone })];
