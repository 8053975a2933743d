import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GivenKey, readKeyFile } from "../../core/store/sealing/key-files.ts";

/** The variable that may hold the master key. */
export const KEY_VARIABLE = "ESIMCTL_KEY";

/** What a credential of the service manager that holds the master key is called. */
const CREDENTIAL = "esimctl.key";

/** The environment as it was; the master key is taken out of `process.env`, so that no child process gets it. */
export function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  delete process.env[KEY_VARIABLE];
  return env;
}

/**
 * The master keys that are kept outside the data: in `ESIMCTL_KEY`, and in the file `esimctl.key` of systemd's
 * `$CREDENTIALS_DIRECTORY`. Throws `StoreError` when that cannot be read.
 */
export function givenKeys(env: NodeJS.ProcessEnv): GivenKey[] {
  const text = env[KEY_VARIABLE] ?? "";
  const folder = env.CREDENTIALS_DIRECTORY ?? "";
  const file = folder === "" ? null : join(folder, CREDENTIAL);
  return [
    ...(text === "" ? [] : [{ text, name: KEY_VARIABLE }]),
    ...(file === null || !existsSync(file) ? [] : [{ text: readKeyFile(file), name: file }]),
  ];
}
