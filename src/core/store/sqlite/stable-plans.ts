import type Database from "better-sqlite3";

/**
 * The connection with statements whose plans stay: SQLite plans a statement again, at several times the cost of running
 * it, each time a parameter is bound that its planner looked at. A unary plus hides a parameter from the planner and
 * changes nothing else.
 */
export function withStablePlans(connection: Database.Database): Database.Database {
  return new Proxy(connection, {
    get: (target, key) =>
      key === "prepare" ? (text: string) => target.prepare(hideParameters(text)) : Reflect.get(target, key, target),
  });
}

/** `? → +?`, but not within quotes. */
function hideParameters(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g, (token) => (token === "?" ? "+?" : token));
}
