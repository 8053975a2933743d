import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openCsv } from "../src/cli/csv/open.ts";
import { stockCsv } from "../src/cli/csv/specs.ts";
import { visibleText } from "../src/core/kernel/iccid.ts";
import { csvFolder, people, readAll, refusal } from "./support/csv-files.ts";
import { anyCharacter, property } from "./support/rounds.ts";

const folder = csvFolder();

describe("what is read", () => {
  test("headers are found whatever their order, case, spaces, underscores and hyphens", async () => {
    const rows = await readAll(folder.file("NOTE, Name ,Passport-No\nhi,Ada,P1\n"), people);
    expect(rows).toEqual([
      { line: 2, values: { passport_no: "P1", name: "Ada", note: "hi" }, raw: ["hi", "Ada", "P1"], fault: null },
    ]);
  });

  test("a column the file lacks reads as empty, blanks around values are dropped", async () => {
    const [row] = await readAll(folder.file('passport no,name\n  P1 ,"  Ada "\n'), people);
    expect(row?.values).toEqual({ passport_no: "P1", name: "Ada", note: "" });
  });

  test("lines are the file's own, with quoted line breaks of any kind, CRLF and blank lines between", async () => {
    const text = '\ufeffpassport_no,name,note\r\nP1,A,"one\r\ntwo\nthree"\r\n\r\n,,\r\nP2,B,\r\n"P3","C","x"';
    const rows = await readAll(folder.file(text), people);
    expect(rows.map((row) => [row.line, row.values.passport_no])).toEqual([
      [2, "P1"],
      [7, "P2"],
      [8, "P3"],
    ]);
    expect(rows[0]?.values.note).toBe("one\r\ntwo\nthree");
  });

  test("blanks before a quoted value and mixed line ends are accepted", async () => {
    const rows = await readAll(folder.file('passport_no, name\r\nP1, "Ada, L."\nP2,Bo\rP3,Cy\r\n'), people);
    expect(rows.map((row) => [row.line, row.values.passport_no, row.values.name])).toEqual([
      [2, "P1", "Ada, L."],
      [3, "P2", "Bo"],
      [4, "P3", "Cy"],
    ]);
  });

  test.each([
    [";", 'passport_no;"name";note'],
    ["\t", "passport_no\tname\tnote"],
    [",", "passport_no,name,note"],
  ])("the delimiter %j is recognized, whatever is inside quotes", async (delimiter, header) => {
    const rows = await readAll(folder.file(`${header}\nP1${delimiter}"a,b;c\td"${delimiter}\n`), people);
    expect(rows[0]?.values.name).toBe("a,b;c\td");
  });

  test("delimiters inside a quoted header do not count", async () => {
    const csv = await openCsv(folder.file('"a,b,c,d";passport_no;name\nx;P1;Ada\n'), people);
    expect(csv.delimiter).toBe(";");
    await csv.close();
  });

  test("unknown columns are ignored with a warning each", async () => {
    const csv = await openCsv(folder.file("passport_no,name,Shoe Size,\nP1,Ada,38,\n"), people);
    expect(csv.header.warnings).toEqual([
      expect.stringContaining('column "Shoe Size" is not known'),
      expect.stringContaining("column 4 is not known"),
    ]);
    await csv.close();
  });

  test("a row with another number of fields than the header is returned with its fault", async () => {
    const rows = await readAll(folder.file("passport_no,name,note\nP1,Ada\nP2,Bo,x,y\nP3,Cy,z,,\n"), people);
    expect(rows.map((row) => row.fault)).toEqual([
      "has 2 fields where the header has 3: it ends before note",
      "has 4 fields where the header has 3: a comma within a value needs quotes around the value",
      null,
    ]);
  });

  test("multi-byte characters survive every chunk border", async () => {
    const names = Array.from({ length: 4000 }, (_, index) => `${"x".repeat(index % 7)}漢字🛂é${"ß".repeat(index % 5)}`);
    const rows = await readAll(
      folder.file(`passport_no,name\n${names.map((it, at) => `P${at},${it}`).join("\n")}`),
      people,
    );
    expect(rows.map((row) => row.values.name)).toEqual(names);
  });

  test.each([
    ["\n", '"Ada, L."'],
    ["\r\n", '"A""B"'],
    ["\r", "no quote at all"],
  ])("lines and values are right however far down the first quote is, lines ending in %j", async (end, last) => {
    const lines = Array.from({ length: 9000 }, (_, index) => `P${index}, Ada ${index}`);
    const path = folder.file(
      ["passport_no,name", ...lines.slice(0, 5000), "", ...lines.slice(5000), `P,${last}`].join(end),
    );
    const rows = await readAll(path, people);
    expect(rows.map((row) => row.values.name).slice(0, 9000)).toEqual(lines.map((_, index) => `Ada ${index}`));
    expect(rows[4999]?.line).toBe(5001);
    expect(rows[5000]?.line).toBe(5003);
    const name = last === '"Ada, L."' ? "Ada, L." : last.replace('"A""B"', 'A"B');
    expect(rows.at(-1)).toMatchObject({ line: 9003, values: { passport_no: "P", name } });
  });

  test("ICCIDs are read as cards, files and spreadsheets spell them", async () => {
    const spelled = [
      "8944 5900 0446 3637 008",
      "8944-5900-0446-3637-008",
      "8944590004463637008F",
      "'8944590004463637008",
      '="8944590004463637008"',
      '"=""8944590004463637008"""',
      "８９４４５９０００４４６３６３７００８",
      "\u200b8944590004463637008\u202c",
    ];
    const path = folder.file(["\ufeffICCID\u200b,name", ...spelled.map((iccid, at) => `${iccid},N${at}`)].join("\n"));
    const rows = await readAll(path, { columns: ["iccid", "name"], needs: ["iccid", "name"] });
    expect(rows.map((row) => row.values.iccid)).toEqual(spelled.map(() => "8944590004463637008"));
    expect(rows.map((row) => row.values.name)).toEqual(spelled.map((_, at) => `N${at}`));
  });

  test("a number in a formula is read wherever a chunk ends; other text beside quotes is refused", async () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `P${at},${"x".repeat(at % 5)},="00${at}"`);
    const rows = await readAll(folder.file(`passport_no,name,note\n${lines.join("\n")}\n`), people);
    expect(rows.map((row) => row.values.note)).toEqual(lines.map((_, at) => `00${at}`));
    const broken = folder.file('passport_no,name\nP1,5" screen\n');
    await expect(readAll(broken, people)).rejects.toMatchObject({ code: "csv_invalid" });
  });

  const ANY = "any rows of any values are read back, with any delimiter, line ends and byte-order mark";

  property(ANY, { few: 30, many: 150 }, async (numRuns) => {
    const text = fc.string({ unit: anyCharacter, maxLength: 12 }).filter((it) => !it.includes("\0"));
    const nasty = fc.constantFrom('"', '""', ",", ";", "\t", "\n", "\r\n", "\r", " ", 'a"b', "\ufeff", "ö");
    const value = fc.oneof(
      text,
      fc.array(fc.oneof(text, nasty), { maxLength: 5 }).map((parts) => parts.join("")),
    );
    const rowsOf = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 20 });
    const form = fc.record({
      delimiter: fc.constantFrom(",", ";", "\t"),
      record_delimiter: fc.constantFrom("\n", "\r\n", "\r"),
      bom: fc.boolean(),
      eof: fc.boolean(),
      quoted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(rowsOf, form, async (values, options) => {
        const written = values.map(([name, note], index) => [`P${index}`, name, note]);
        const quoting = { quote_record_delimiter: true, quoted_match: /[\r\n]/, ...options };
        const path = folder.file(stringify([["passport_no", "name", "note"], ...written], quoting));
        const rows = await readAll(path, people);
        const read = rows.map(({ values: it }) => [it.passport_no, it.name, it.note]);
        expect(read).toEqual(written.map((row) => row.map(visibleText)));
        const lines = readFileSync(path, "utf8").split(/\r\n|\n|\r/);
        for (const row of rows) expect(lines[row.line - 1]).toContain(row.values.passport_no);
      }),
      { numRuns },
    );
  });

  test("standard input can be read twice and leaves nothing behind", async () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = folder.path();
    try {
      const csv = await openCsv("-", people, { stdin: Readable.from([Buffer.from("passport_no,name\nP1,Ada\n")]) });
      for (const pass of [1, 2]) {
        const numbers: string[] = [];
        for await (const row of csv) numbers.push(row.values.passport_no);
        expect(numbers, `pass ${pass}`).toEqual(["P1"]);
      }
      // Not even kill -9 leaves the file: it lost its name when it was made (Windows keeps names of open files).
      if (process.platform !== "win32") expect(readdirSync(folder.path())).toEqual([]);
      await csv.close();
      expect(readdirSync(folder.path())).toEqual([]);

      // A pipe or a device that never ends.
      const endless = openCsv("/dev/zero", people, { mostBytes: 2 * 1024 * 1024 });
      await expect(endless).rejects.toThrow("/dev/zero: more than 2 MiB came from it.");
      expect(readdirSync(folder.path())).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
});

describe("files that are refused before any row", () => {
  const refused: [string, string | Buffer, RegExp, number | null, string | null][] = [
    ["nothing in it", "", /it is empty/, null, null],
    ["only a byte-order mark and blank lines", "\ufeff\r\n\n", /it is empty/, null, null],
    ["a header alone", "passport_no,name\r\n", /no rows below the header/, null, null],
    ["a column missing", "passport_no,note\nP1,x\n", /lacks name\./, 1, "name"],
    ["no known column", "P1,Ada\nP2,Bo\n", /lacks passport_no; name\./, 1, "passport_no"],
    ["a title above", "Our people;;\n\nPassport No;Name\nP1;Ada\n", /header seems to be line 3/, 1, '"Our people"'],
    ["a plain title", "Our people\npassport_no;name\nP1;Ada\n", /header seems to be line 2/, 1, '"Our people"'],
    ["a column twice", "name,passport_no,PASSPORT NO\nx,y,z\n", /column 2 once more/, 1, '"PASSPORT NO"'],
    ["Latin-1", Buffer.from("passport_no,name\nP1,Ada\nP2,Jos\xe9\n", "latin1"), /not UTF-8/, 3, '"name"'],
    ["a cut character at the end", Buffer.from("passport_no,name\nP1,é").subarray(0, -1), /within a char/, 2, '"name"'],
    ["NUL bytes", "passport_no,name\nP1,A\0da\n", /NUL bytes/, 2, '"name"'],
    ["UTF-16", Buffer.from("\ufeffpassport_no,name\nP1,Ada\n", "utf16le"), /UTF-16/, 1, "1"],
    ["a workbook", Buffer.concat([Buffer.from("PK\x03\x04\x14\0\x06\0"), randomBytes(500)]), /a workbook/, 1, "1"],
    ["JSON", '[{"passport_no":"P1"}]\n', /quote inside an unquoted value/, 1, "1"],
    ["a quote never closed", 'passport_no,name\nP1,"Ada\nP2,Bo\n', /never closed/, 2, '"name"'],
  ];
  test.each(refused)("%s", async (_, content, words, line, column) => {
    const fault = await refusal(openCsv(folder.file(content), people));
    expect(fault.message).toMatch(words);
    expect([fault.line, fault.column]).toEqual([line, column]);
    if (line !== null) expect(fault.message).toContain(`line ${line}, column ${column}`);
    expect(fault.message).toContain("people.csv");
    expect(fault.hint).not.toBe("");
  });

  test("no such file, a directory", async () => {
    expect((await refusal(openCsv(folder.path("none.csv"), people))).message).toMatch(/there is no such file/);
    expect((await refusal(openCsv(folder.path(), people))).message).toMatch(/this is a directory/);
  });

  test("an invalid byte after many rows, named with its line and column", async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `P${index},Ada,"two\nlines"\n`).join("");
    const path = folder.file(
      Buffer.concat([Buffer.from(`passport_no,name,note\n${rows}P,`), Buffer.from([0xff, 0x0a])]),
    );
    const fault = await refusal(openCsv(path, people));
    expect([fault.line, fault.column]).toEqual([40_002, '"name"']);
  });

  test("column groups of which one must be complete", async () => {
    expect((await refusal(openCsv(folder.file("iccid,smdp address\n1,x\n"), stockCsv))).message).toContain(
      "lacks smdp_address and matching_id, or activation_code",
    );
    for (const header of ["ICCID,SMDP Address,Matching ID", "iccid,activation code,other"]) {
      expect(await readAll(folder.file(`${header}\n1,2,3\n`), stockCsv)).toHaveLength(1);
    }
  });

  test("a message holds no control characters of a header", async () => {
    const fault = await refusal(openCsv(folder.file("\u001b[31mred\u009b,name\n1,2\n"), people));
    expect(`${fault.message}${fault.hint}`).not.toMatch(/\p{Cc}/u);
  });
});

describe("broken quoting further down", () => {
  const rows = Array.from({ length: 9000 }, (_, index) => `P${index},Ada,"x\r\ny"\r\n`).join("");
  test.each([
    ['P,5" screen,\r\nP2,B,\r\n', /quote inside an unquoted value/, '"name"'],
    ['P,"Ada" L,\r\nP2,B,\r\n', /text behind a closing quote/, '"name"'],
    ['P,Ada,"never\r\nP2,B,\r\n', /never closed/, '"note"'],
    [`P,Ada,"${"never\r\n".repeat(40_000)}`, /longer than/, '"note"'],
  ])("case %#", async (tail, words, column) => {
    const path = folder.file(`passport_no,name,note\r\n${rows}${tail}`);
    const fault = await refusal(readAll(path, people));
    expect(fault.message).toMatch(words);
    expect([fault.line, fault.column]).toEqual([2 + 2 * 9000, column]);
  });
});
