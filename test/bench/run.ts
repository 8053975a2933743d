/**
 * `npm run bench`: everything against its bare peer, in one run and one table. Takes a few minutes; names of benches
 * behind it run only those: `npm run bench -- bulkOrders`.
 */
import Table from "cli-table3";
import { benches } from "./all.ts";
import { fullScale, type Measured } from "./bench.ts";

const lines: Measured[] = [];
const wanted = process.argv.slice(2);
for (const bench of benches.filter(({ name }) => wanted.length === 0 || wanted.includes(name)))
  lines.push(...(await bench(fullScale)));

const table = new Table({
  head: ["what", "ratio", "lowest", "highest", "ours/s", "peer/s", "peer"],
  colAligns: ["left", "right", "right", "right", "right", "right", "left"],
  style: { head: [], border: [] },
});
for (const { what, ratio, lowest, highest, ours, bare, peer } of lines) {
  const ratios = [ratio, lowest, highest].map((each) => each.toFixed(2));
  table.push([what, ...ratios, Math.round(ours), Math.round(bare), peer]);
}
console.log(table.toString());
console.log(`Medians of ${fullScale.rounds} rounds, ours and the peer in turn, on Node ${process.version}.`);
