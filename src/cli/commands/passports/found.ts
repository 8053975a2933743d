import type { PassportId } from "../../../core/kernel/brand.ts";
import type { OperatorPassport } from "../../../core/passports/operator-view.ts";
import type { Store } from "../../../core/store/store.ts";
import { CliError } from "../../kernel/errors.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A typed id. */
export function passportId(typed: string): PassportId {
  return typed.trim().toLowerCase() as PassportId; // the database decides whether it exists
}

/** The passports of any pool that an id or a number means, withdrawn ones too. Throws `not_found` when none. */
export async function findEverywhere(store: Store, typed: string): Promise<OperatorPassport[]> {
  const { findPassports, showPassport } = await import("../../../core/passports/operator-view.ts");
  if (UUID.test(typed)) return [await store.read(showPassport, passportId(typed))];
  const found = await store.read(findPassports, typed);
  if (found.length === 0) throw noSuchPassport();
  return found;
}

/** Nothing has the number that was asked for; the number itself is not repeated. */
export function noSuchPassport(): CliError {
  return new CliError(
    "not_found",
    "No passport has this number.",
    "Check the number, the partner and the environment.",
  );
}
