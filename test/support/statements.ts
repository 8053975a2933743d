import { expect } from "vitest";
import { readRecords } from "../../src/core/csv/table.ts";
import { groupedMoney } from "../../src/core/kernel/money.ts";
import type { StatementFigures } from "../../src/core/wallet/statement.ts";
import type { WalletTransaction } from "../../src/core/wallet/transactions.ts";
import { pdfPages } from "./pdf-text.ts";
import type { Caller, Platform } from "./platform.ts";

export const STATEMENTS = "/api/v1/statements";

/** Every record of a list, page by page. */
export async function everyPage<T>(caller: Caller, path: string, limit: number): Promise<T[]> {
  const rows: T[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await caller.get(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}${cursor}`);
    expect(status, JSON.stringify(body)).toBe(200);
    rows.push(...body.data);
    if (!body.pagination.has_more) return rows;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
}

/** The bytes of a statement in a form. */
export async function statementBytes(
  { url }: Pick<Platform, "url">,
  { token }: Caller,
  { month, currency }: Pick<StatementFigures, "month" | "currency">,
  accept: string,
): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}`, accept };
  const response = await fetch(`${url}${STATEMENTS}/${month}?currency=${currency}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.status, bytes.toString()).toBe(200);
  expect(response.headers.get("content-type")).toContain(accept);
  return bytes;
}

/** The lines of a CSV, each as its values by the names of the first line. */
export async function linesOf(csv: string): Promise<Record<string, string>[]> {
  const [head, ...records] = (await readRecords("statement", csv)).records;
  const names = head?.fields ?? [];
  return records.map(({ fields }) => Object.fromEntries(names.map((name, at) => [name, fields[at] ?? ""])));
}

/**
 * Compares what a partner's statements say with its list of transactions, each in the month of its time. Answers the
 * bytes of those that are finished, by name and form.
 */
export async function expectSound(platform: Platform, caller: Caller): Promise<Map<string, string>> {
  const moved = await everyPage<WalletTransaction>(caller, "/api/v1/wallet/transactions", 100);
  const listed = await everyPage<StatementFigures>(caller, STATEMENTS, 5);
  const keys = listed.map(({ month, currency }) => `${month} ${currency}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(listed.map(({ month }) => month)).toEqual(
    listed
      .map(({ month }) => month)
      .sort()
      .reverse(),
  );
  const kept = new Map<string, string>();
  for (const [currency, months] of Map.groupBy(listed, (one) => one.currency)) {
    const own = moved.filter((one) => one.currency === currency).reverse();
    expect(months.reduce((sum, one) => sum + one.movement_count, 0)).toBe(own.length);
    let held = 0;
    for (const figures of months.reverse()) {
      const movements = own.filter(({ created_at }) => created_at.startsWith(figures.month));
      const closing = movements.reduce((sum, one) => sum + one.amount_cents, held);
      expect(figures).toMatchObject({ opening_cents: held, closing_cents: closing, movement_count: movements.length });
      held = closing;
      const { json, csv } = await formsOf(platform, caller, figures);
      expect(JSON.parse(json)).toEqual({ ...figures, movements, hash: figures.finished ? expect.any(String) : null });
      await expectSame(csv, JSON.parse(json));
      if (figures.finished) kept.set(`${figures.month} ${currency}`, json + csv);
    }
  }
  return kept;
}

async function formsOf(platform: Platform, caller: Caller, figures: StatementFigures) {
  const json = (await statementBytes(platform, caller, figures, "application/json")).toString();
  const csv = (await statementBytes(platform, caller, figures, "text/csv")).toString();
  return { json, csv };
}

/** The CSV says what the JSON says. */
async function expectSame(
  csv: string,
  json: StatementFigures & { movements: WalletTransaction[]; hash: string | null },
): Promise<void> {
  const { currency, opening_cents, closing_cents, movements, hash } = json;
  const lines = await linesOf(csv);
  const said = lines.map(({ kind, amount_cents: amount, balance_after_cents: balance, id }) => {
    return [kind, amount, balance, id].join(" ");
  });
  const moves = movements.map((one) => [one.kind, one.amount_cents, one.balance_after_cents, one.id].join(" "));
  const end = hash === null ? [] : ["hash   "];
  expect(said).toEqual([`opening  ${opening_cents} `, ...moves, `closing  ${closing_cents} `, ...end]);
  expect(lines.every((line) => line.currency === currency)).toBe(true);
  if (hash !== null) expect(lines.at(-1)?.reference).toBe(hash);
}

/** The PDF of each month shows what its CSV says. */
export async function expectSamePdf(platform: Platform, caller: Caller): Promise<void> {
  for (const figures of await everyPage<StatementFigures>(caller, STATEMENTS, 100)) {
    const { currency, finished } = figures;
    const csv = await linesOf((await statementBytes(platform, caller, figures, "text/csv")).toString());
    const pages = pdfPages(await statementBytes(platform, caller, figures, "application/pdf"));
    const shown = pages.flat().filter((line) => /^\d{4}-\d\d-\d\d [\d:]{8} \| /.test(line));
    const money = (cents: string | undefined) => (cents ? groupedMoney(Number(cents), currency) : "");
    expect(shown).toEqual(
      csv.slice(0, finished ? -1 : undefined).map((line) => {
        const at = line.created_at?.slice(0, 19).replace("T", " ");
        const kind = line.kind === "topup" ? "top-up" : line.kind;
        const { reference, amount_cents: amount, balance_after_cents: balance } = line;
        return [at, kind, reference, money(amount), money(balance)].filter(Boolean).join(" | ");
      }),
    );
    if (finished) expect(pages.at(-1)).toContain(csv.at(-1)?.reference);
  }
}
