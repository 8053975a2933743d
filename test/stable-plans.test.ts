import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { withStablePlans } from "../src/core/store/sqlite/stable-plans.ts";

test("the meaning of a statement is unchanged: question marks in texts and names are no parameters", () => {
  const plain = new Database(":memory:");
  onTestFinished(() => void plain.close());
  const connection = withStablePlans(plain);
  connection.exec(`CREATE TABLE t ("odd? ""name""" text, n integer)`);
  connection.prepare(`INSERT INTO t VALUES (?, ?)`).run("it's ?", 7);
  const statement = connection.prepare(
    `SELECT 'no ''?'' here' AS said, n FROM t WHERE "odd? ""name""" = ? AND n < ? LIMIT ?`,
  );
  expect(statement.all("it's ?", 8, 1)).toEqual([{ said: "no '?' here", n: 7 }]);
  expect(statement.all("it's ?", 7, 1)).toEqual([]);
});
