import { type Existing, inspectDatabase } from "../store/open/reading.ts";
import { type Finding, fault, findings, fine, named, warning } from "./finding.ts";

const RESTORE = "Stop serve, keep the damaged files, and restore the last good backup: esimctl restore.";

type Inspection = Awaited<ReturnType<typeof inspectDatabase>>;

/** What was found of a database, and whether its schema is this program's: later checks read its columns. */
export interface CheckedDatabase {
  found: Finding[];
  current: boolean;
}

/** Whether the database is whole and its schema is the program's own. Never throws `StoreError`: that is a finding. */
export async function checkDatabase(where: Existing): Promise<CheckedDatabase> {
  let current = false;
  const found = await findings("integrity", async () => {
    const inspection = await inspectDatabase(where);
    current = inspection.pending.length === 0;
    return [integrity(where, inspection), schema(inspection)];
  });
  return { found, current };
}

function integrity(where: Existing, { damage }: Inspection): Finding {
  const [first] = damage;
  if (first !== undefined) return fault("integrity", `The database is damaged: ${named(damage)}.`, RESTORE);
  const words = "file" in where ? "Every page of the database is whole." : "The PostgreSQL server answers.";
  return fine("integrity", words);
}

function schema({ drift, pending }: Inspection): Finding {
  if (drift === null) {
    const remedy = "Run doctor as a user that may create a schema in this database.";
    return warning("schema", "The schema could not be compared: this user may not create one beside it.", remedy);
  }
  const { missing, altered, foreign } = drift;
  const wrong = [...missing.map((name) => `${name} is missing`), ...altered.map((name) => `${name} differs`)];
  if (wrong.length > 0) {
    return fault(
      "schema",
      `The schema is not the one that esimctl made: ${named(wrong)}.`,
      "Undo what was changed by hand, or restore a backup from before: esimctl restore.",
    );
  }
  if (foreign.length > 0) {
    const remedy = "Leave them if they are yours and do no harm; else drop them.";
    return warning("schema", `The schema holds what esimctl did not make: ${named(foreign)}.`, remedy);
  }
  if (pending.length > 0) {
    const remedy = "Start esimctl serve of this version, which brings it up to date, and run doctor again.";
    return warning("schema", `The schema is older than this program; to be applied: ${named(pending)}.`, remedy);
  }
  return fine("schema", "The schema is the one that this program makes.");
}
