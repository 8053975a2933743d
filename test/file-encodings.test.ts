import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { newData } from "./support/installation.ts";
import { temporaryDirectory } from "./support/store.ts";
import { esimctl } from "./support/warm.ts";

const HEAD = "first_name;last_name;date_of_birth;passport_no;passport_country;passport_expiry";

async function setUp() {
  const data = await newData();
  const folder = temporaryDirectory();
  await esimctl(["partners", "create", "acme", "--name", "Acme", "--agent", "--data", data]);
  const imported = async (file: string, encoding: string) => {
    const into = ["--partner", "acme", "--sandbox", "--data", data, "--json"];
    const ended = await esimctl(["passports", "import", file, "--encoding", encoding, "--dates", "dmy", ...into]);
    return { exitCode: ended.exitCode, ...JSON.parse(ended.stdout) };
  };
  return { folder, imported };
}

test.each(["windows-1252", "cp850", "macintosh", "utf-16le"])(
  "a rejected file goes back in as it came: %s",
  async (encoding) => {
    const { folder, imported } = await setUp();
    const file = join(folder, "people.csv");
    const rows = [
      "Jos\u00e9;Mu\u00f1oz;31/12/1964;L1001;ES;01/01/2034",
      "Zo\u00eb;B\u00e4r;31/12/1964;L1002;XQ;01/01/2034",
    ];
    writeFileSync(file, iconv.encode([HEAD, ...rows, ""].join("\r\n"), encoding));
    expect(await imported(file, encoding)).toMatchObject({ exitCode: 3, imported: 1, rejected: 1 });
    const rejected = join(folder, "people.rejected.csv");
    const text = iconv.decode(readFileSync(rejected), encoding);
    expect(text).toContain("Zo\u00eb;B\u00e4r;31/12/1964;L1002");
    const corrected = join(folder, "corrected.csv");
    writeFileSync(corrected, iconv.encode(text.replace("XQ", "DE"), encoding));
    expect(await imported(corrected, encoding)).toMatchObject({ exitCode: 0, imported: 1, rejected: 0 });
  },
);

test("an unknown encoding is a usage error", async () => {
  const { folder, imported } = await setUp();
  const file = join(folder, "people.csv");
  writeFileSync(file, `${HEAD}\nAnn;Able;31/12/1964;L1001;GB;01/01/2034\n`);
  expect(await imported(file, "cp9999")).toMatchObject({ exitCode: 2, error: { code: "usage" } });
});
