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
  head: ["what", "ratio", "lowest", "highest", "ours/s", "peer/s", "CPU µs", "peer", "p99 ms", "peer", "the peer"],
  colAligns: ["left", ...Array.from({ length: 9 }, () => "right" as const), "left"],
  style: { head: [], border: [] },
});
for (const { what, ratio, lowest, highest, ours, bare, unit, peer, cpu, p99 } of lines) {
  const ratios = [ratio, lowest, highest].map((each) => each.toFixed(2));
  const costs = [cpu?.ours, cpu?.bare, p99?.ours, p99?.bare].map((each) => each?.toFixed(0) ?? "");
  const figures = [ours, bare].map((each) => `${Math.round(each)}${unit === undefined ? "" : ` ${unit}`}`);
  table.push([what, ...ratios, ...figures, ...costs, peer]);
}
console.log(table.toString());
console.log(`Medians of ${fullScale.rounds} rounds, ours and the peer in turn, on Node ${process.version}.`);
