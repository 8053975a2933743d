/** The address of a page without what names one record: pages of one kind differ by what they show alone. */
export function kindOf({ pathname, searchParams }: URL): string {
  const parts = pathname.split("/").map((part) => (/\d/.test(part) ? ":id" : part));
  return `${parts.join("/")}?${[...searchParams.keys()].sort().join("&")}`;
}

/** Whether an address is one of a file: a list as CSV, or a statement. */
export function isFileOf({ searchParams }: URL): boolean {
  return searchParams.get("format") === "csv" || searchParams.has("form");
}
