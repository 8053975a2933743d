import { eventTable } from "./event-table.ts";
import { activationStatusTable, esimStatusTable, machines, machineTable } from "./state-tables.ts";

/** The content between `<!-- made: NAME -->` and `<!-- end -->` in a page, by name. */
const sections: ReadonlyMap<string, () => string> = new Map([
  ...Object.entries(machines).map(([name, machine]) => [name, () => machineTable(machine)] as const),
  ["activation statuses", activationStatusTable],
  ["esim statuses", esimStatusTable],
  ["events", eventTable],
]);

/** A page with its marked sections made from the code. Throws for an unknown mark. */
export function withSections(page: string): string {
  return page.replace(
    /(<!-- made: (.+?) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const make = sections.get(name);
      if (make === undefined) throw new Error(`nothing is made for the section "${name}"`);
      return `${begin}\n${make()}\n\n${end}`;
    },
  );
}

/** The names of the sections that a page has. */
export function sectionNames(page: string): string[] {
  return [...page.matchAll(/<!-- made: (.+?) -->/g)].flatMap(([, name]) => name ?? []);
}

/** The pages that have such sections. */
export const pagesWithSections: readonly string[] = ["docs/states.md", "docs/webhooks.md"];

/** Every section there is. */
export const allSections: readonly string[] = [...sections.keys()];
