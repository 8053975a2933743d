import packageFile from "../../../package.json" with { type: "json" };
import { command } from "../frame/command.ts";

export default command({
  target: "process",
  shows: "record",
  effects: "Reads only.",
  json: "{version}",
  examples: ["version", "version --json"],
  args: {},
  options: {},
  run: async () => ({ json: { version: packageFile.version }, text: () => packageFile.version }),
});
