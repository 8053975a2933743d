/** One step of the schema: `0001_initial` and its statements. */
export interface Migration {
  name: string;
  statements: string[];
}
