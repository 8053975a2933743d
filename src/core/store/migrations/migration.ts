/** The few things a migration needs of a connection. */
export interface MigrationTarget {
  run(statement: string): Promise<void>;
  rows(statement: string): Promise<Record<string, unknown>[]>;
}

/** One step of the schema: `0001_initial` and its statements. */
export interface Migration {
  name: string;
  statements: string[];
  /** Runs after the statements, for what SQL cannot compute. */
  fill?: (target: MigrationTarget) => Promise<void>;
}
