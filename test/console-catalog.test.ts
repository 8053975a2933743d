import { expect, test } from "vitest";
import { addProducts, addStock } from "./support/catalog.ts";
import { person, startPages } from "./support/pages.ts";

const HEADER =
  "SKU;Name;Region;Coverage;Data amount MB;validity-days;price;currency;type;product_type;delivery_method;supplier";

/** A file as a spreadsheet saves it. */
function file(...rows: string[]): Blob {
  return new Blob([`\ufeff${[HEADER, ...rows].join("\r\n")}\r\n`], { type: "text/csv" });
}

test("the catalog lists products of every status, narrowed and in CSV", async () => {
  const platform = await startPages();
  const many = Array.from({ length: 60 }, (_, at) => ({ sku: `EU-${at}` }));
  await addProducts(platform.store, [
    ...many,
    { sku: "OLD", status: "inactive" },
    { sku: "GONE", status: "out_of_stock", coverage: ["JP"] },
  ]);
  const viewer = await person(platform, { role: "viewer" });
  const first = await viewer.get("/console/catalog");
  const second = await viewer.get(first.page.querySelector('a[rel="next"]')?.getAttribute("href") ?? "");
  expect(second.text).toMatch(/GONE.*OLD/);
  expect(second.page.querySelector('a[rel="next"]')).toBeNull();
  const csv = await viewer.get("/console/catalog?format=csv");
  expect(csv.html.trim().split("\n")).toHaveLength(63);
  const rows = async (query: string) =>
    (await viewer.get(`/console/catalog?${query}`)).page.querySelectorAll("tbody tr");
  expect(await rows("status=inactive")).toHaveLength(1);
  expect(await rows("country=Japan")).toHaveLength(1);
  // EU-5, and EU-50 to EU-59.
  expect(await rows("sku=eu-5")).toHaveLength(11);
  expect(await rows("sku=EU-5&status=inactive")).toHaveLength(0);
  expect(await rows("sku=o&country=Japan")).toHaveLength(0);
  expect(await rows("sku=g&country=Japan")).toHaveLength(1);
  expect((await viewer.get("/console/catalog?cursor=none~x")).status).toBe(400);
});

test("a price and a status are changed after what changes was shown, with doubts", async () => {
  const platform = await startPages();
  const { "EU-1": id = "" } = await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  await addStock(platform.store, "EU-1", 3);
  const finance = await person(platform, { role: "finance" });
  const at = `/console/catalog/${id}`;
  const form = await finance.get(at);
  expect(form.text).toContain("3 eSIMs are free");
  const asked = await finance.send(form, { price: "99.00", status: "out_of_stock", low_stock: "5" });
  expect(asked.text).toContain("changes by +900 %");
  expect(asked.text).toContain("Price9.90 AUD99.00 AUD");
  expect((await finance.get(at)).text).toContain("9.90 AUD");
  const done = await finance.send(asked, {}, at);
  expect([done.path, done.text]).toEqual([at, expect.stringContaining("EU-1 is changed")]);
  expect(done.text).toMatch(/Statusout of stock.*99\.00 AUD/);
  expect(done.text).toContain("An alert is raised below 5");
  expect(done.text).toContain("price_cents: 990 → 9900");
  expect((await finance.send(done, { status: "out_of_stock" }, at)).text).toContain("Nothing was to be changed");
  const refused = await finance.send(done, { price: "9.999" }, at);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("after the point")]);
  expect((await finance.get("/console/catalog/none")).status).toBe(404);
  for (const role of ["support", "viewer"] as const) {
    const other = await person(platform, { role });
    expect((await other.get(at)).page.querySelector('[name="price"]')).toBeNull();
    expect((await other.get("/console/catalog/import")).status).toBe(403);
    const csrf = (await other.get(at)).page.querySelector('[name="_csrf"]')?.getAttribute("value") ?? "";
    const posted = await other.post(at, { _csrf: csrf, price: "1.00", status: "active" }, { origin: platform.url });
    expect(posted.status).toBe(403);
  }
});

test("products are imported from a file after a preview; bad rows are left out", async () => {
  const platform = await startPages();
  await addProducts(platform.store, [{ sku: "EU-1", price_cents: 990 }]);
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/catalog/import");
  const sent = file(
    "EU-1;Europe 5 GB;Europe;France|DE;5120;30;12.00;aud;data_only;esim_qr_pregen;stock;",
    'JP-1;"Japan; 1 GB";Asia;Japan;1024;7;5.00;AUD;data_only;esim_qr_api;supplier_api;northwind',
    "BAD;Bad;Asia;Nowhere 12;x;7;5.00;AUD;data_only;esim_qr_api;supplier_api;northwind",
    "TWO;Two;Asia;JP;1024;7;5.00;AUD;data_only;esim_qr_pregen;stock;",
    "TWO;Two;Asia;JP;1024;7;6.00;AUD;data_only;esim_qr_pregen;stock;",
  );
  const preview = await admin.send(form, { file: sent });
  expect(preview.text).toContain("1 new, 1 changed, 0 as they were");
  expect(preview.text).toContain("9.90 AUD12.00 AUD+21.2");
  expect(preview.text).toContain("not set up yet: northwind");
  expect(preview.text).toMatch(/3 rows left out.*4data_amount_mb must be a whole number/);
  expect(preview.text).toContain("sku is on lines 5, 6");
  expect((await admin.get("/console/catalog")).text).not.toContain("JP-1");
  const done = await admin.send(preview, {}, "/catalog/import");
  expect(done.text).toContain("1 new, 1 changed, 0 as they were. 3 rows left out.");
  expect(done.text).toMatch(/Japan; 1 GB.*JP-1|JP-1.*Japan; 1 GB/);
  const again = await admin.send(form, { file: file("X;X;Asia;JP;1;7;5.00;AUD;none;esim_qr_pregen;stock;") });
  expect([again.status, again.text]).toEqual([400, expect.stringContaining("No row can be imported")]);
});

test("files of spreadsheets in other encodings are read, and the preview says which", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/catalog/import");
  const row = (name: string) => `ONE;${name};Europe;CZ;1024;7;5.00;EUR;data_only;esim_qr_pregen;stock;`;
  const sent = async (bytes: Buffer, encoding = "") => {
    const preview = await admin.send(form, { file: new Blob([Uint8Array.from(bytes)]), encoding });
    return [preview.status, preview.text];
  };
  const text = `${HEADER}\n${row("Zürich – 5 €")}\n`;
  const western = Buffer.from(text.replace("–", "\x96").replace("€", "\x80"), "latin1");
  expect(await sent(western)).toEqual([200, expect.stringMatching(/read as Windows, Western Europe.*Zürich – 5 €/)]);
  expect(await sent(Buffer.from(`\ufeff${text}`, "utf16le"))).toEqual([
    200,
    expect.stringMatching(/utf-16le.*Zürich –/),
  ]);
  const czech = Buffer.from(`${HEADER}\n${row("P\xf8\xedbram")}\n`, "latin1");
  expect(await sent(czech)).toEqual([200, expect.stringContaining("Pøíbram")]);
  expect(await sent(czech, "windows-1250")).toEqual([
    200,
    expect.stringMatching(/read as Windows, Central Europe.*Příbram/),
  ]);
  expect(await sent(czech, "utf-8")).toEqual([400, expect.stringContaining("this is not utf-8 text")]);
  const plain = await sent(Buffer.from(text));
  expect(plain).toEqual([200, expect.stringContaining("Zürich – 5 €")]);
  expect(plain[1]).not.toContain("is read as");
});

test("a file that is none is refused in words", async () => {
  const platform = await startPages();
  const admin = await person(platform, { role: "admin" });
  const form = await admin.get("/console/catalog/import");
  const refused = async (content: Blob) => {
    const { status, text } = await admin.send(form, { file: content });
    expect(status).toBe(400);
    return text;
  };
  expect(await refused(new Blob(["sku,name\nA,B\n"]))).toContain("has no column region");
  expect(await refused(new Blob(["sku\0"]))).toContain("this is not text");
  expect(await refused(file())).toContain("has no rows");
  expect(await refused(new Blob([`${HEADER}\n"A;B\n`]))).toContain(
    'The file, line 2, column "SKU": a quote is never closed. Close the quote',
  );
  expect(await refused(new Blob([]))).toContain("is required");
});
