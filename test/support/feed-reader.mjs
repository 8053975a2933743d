/**
 * A reader of the feed as a user writes one: each page is kept as a file that holds its events and the cursor behind
 * them, under its number by a rename. Whatever kills it, the next run goes on behind the newest file. Usage: node
 * feed-reader.mjs FOLDER URL, with TOKEN in the environment; prints a line for each page.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, url] = process.argv.slice(2);
const kept = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort();
const newest = kept.at(-1);
let cursor = newest === undefined ? null : JSON.parse(readFileSync(join(folder, newest), "utf8")).cursor;
let number = kept.length;

for (;;) {
  const query = new URLSearchParams({ limit: "20", wait: "5", ...(cursor === null ? {} : { after: cursor }) });
  const response = await fetch(`${url}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${process.env.TOKEN}` },
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  cursor = body.pagination.next_cursor;
  const file = join(folder, `${String(number).padStart(6, "0")}.json`);
  writeFileSync(`${file}.new`, JSON.stringify({ cursor, events: body.data }));
  renameSync(`${file}.new`, file);
  number += 1;
  process.stdout.write(`${number} ${body.data.length}\n`);
}
