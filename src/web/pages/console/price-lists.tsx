import { createPriceList, listPriceLists, type PriceList } from "../../../core/prices/lists.ts";
import { formShown } from "../../parts/act-form.tsx";
import type { Column } from "../../parts/list.tsx";
import { listed } from "../../parts/list-page.tsx";
import { partOfWhole } from "../../parts/part-of-whole.ts";
import { links } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, requiredField, type Shown } from "../../session/visit.ts";

const columns: readonly Column<PriceList>[] = [
  { title: "Name", cell: ({ name }) => ({ text: name, to: `/prices/${encodeURIComponent(name)}` }) },
  { title: "Rules", right: true, cell: ({ rules }) => rules },
  { title: "Partners", cell: ({ partners }) => partners.join(", ") },
  { title: "Changed", cell: ({ updated_at }) => ({ time: updated_at }) },
];

async function listsPage(visit: ConsoleVisit): Promise<Shown> {
  const lists = await visit.store.read(listPriceLists, null);
  const hint = "Letters, digits, dots, underscores and hyphens, e.g. gold-2026.";
  return listed(visit, {
    ...{ title: "Price lists", path: "/prices", columns },
    read: async (page) => partOfWhole(lists, page),
    empty: "No price lists yet: every partner pays the prices of the catalog.",
    above: (
      <>
        <p>A partner with a list pays its prices, and those of the catalog where no rule of it holds.</p>
        <div class="acts">
          {links(visit, [
            ["/catalog", "Catalog"],
            ["/fx", "Rates of exchange"],
          ])}
        </div>
      </>
    ),
    below:
      visit.may("catalog.write") &&
      formShown(visit, {
        ...{ title: "Make a price list", to: "/prices", submit: "Make the list" },
        intro: "It has no rules at first: its prices are the catalog's.",
        fields: [{ name: "name", label: "Name", hint, required: true }],
      }),
  });
}

async function create(visit: ConsoleVisit): Promise<Shown> {
  const { name } = await visit.write(createPriceList, { name: requiredField(visit.form, "name") });
  return { to: `/prices/${name}`, notice: `${name} is a new price list, which no partner has yet.` };
}

/** The price lists, and whose they are. */
export const priceListPages = [
  consolePage({ path: "/prices", needs: "catalog.read", show: listsPage }),
  consolePage({ path: "/prices", needs: "catalog.write", act: create, again: listsPage }),
];
