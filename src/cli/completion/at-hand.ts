import { homedir } from "node:os";
import { dataDirectory } from "../../core/store/data-directory.ts";
import { type Named, type Naming, namesIn } from "../../core/store/names.ts";
import type { Context } from "../frame/command.ts";
import { resolveWhere } from "../place/place.ts";
import { wordsTyped } from "./complete.ts";

/**
 * Names from the data directory that the typed line selects. Completion must neither fail nor wait: at a server, at a
 * database over the network, or without data there are none.
 */
export async function namesAtHand({ globals }: Context, naming: Naming, typed: readonly string[]): Promise<Named[]> {
  const words = wordsTyped(typed);
  const said = (flag: string, otherwise?: string) => {
    const joined = words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
    return joined ?? (words.includes(flag) ? words[words.indexOf(flag) + 1] : otherwise);
  };
  try {
    const where = await resolveWhere(
      {
        ...globals,
        data: said("--data", globals.data),
        database: said("--database", globals.database),
        keyFile: said("--key-file", globals.keyFile),
        server: said("--server", globals.server),
        profile: said("--profile", globals.profile),
      },
      process.env,
    );
    if (where.kind !== "directory") return [];
    const slug = said("--partner");
    const environment = words.includes("--sandbox") ? "sandbox" : "production";
    const owner = slug === undefined ? null : ({ slug, environment } as const);
    // A shell passes its own short form of the home folder unchanged.
    return namesIn(dataDirectory(where.path.replace(/^~(?=\/|$)/, homedir())).databaseFile, naming, owner);
  } catch {
    return [];
  }
}
