import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { passportsCsv } from "../../src/cli/csv/specs.ts";

const countries = ["GBR", "DEU", "FRA", "IRL", "JPN"];

/** Writes a CSV file of `rows` made-up passports, each with a number of its own, without holding them. */
export async function writePassportFile(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${passportsCsv.columns.join(",")}\n`);
  for (let row = 0; row < rows; row++) {
    if (!file.write(`${passportLine(row)}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
}

function passportLine(row: number): string {
  const born = new Date(Date.UTC(1950, 0, 1) + (row % 18_000) * 86_400_000).toISOString().slice(0, 10);
  const number = `P${String(row).padStart(8, "0")}`;
  const person = [`Given${row % 997}`, `Family${row % 7919}`, "Ms", born];
  const document = [number, countries[row % countries.length], `2034-0${1 + (row % 9)}-1${row % 9}`];
  return [...person, ...document, `${row} Banksia Street`, "Newtown", "NSW", "2042", `GRP-${row}`].join(",");
}
