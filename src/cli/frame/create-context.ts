import type { ActsFor } from "../client/api.ts";
import type { Globals } from "../kernel/globals.ts";
import { terminalText } from "../output/clean.ts";
import { givenKeys, KEY_VARIABLE } from "../place/given-keys.ts";
import type { Sources } from "../place/local-store.ts";
import { operatorOnly, placeWords, resolvePlace, resolveWhere } from "../place/place.ts";
import type { Context, Tree } from "./command.ts";

interface Circumstances {
  actsFor: ActsFor;
  interruption: AbortSignal;
  /** The command acts on local data only: ESIMCTL_SERVER and profiles are ignored. */
  atHand: boolean;
  tree: Tree;
  env: NodeJS.ProcessEnv;
}

/** The context of one run of a command. */
export function createContext(globals: Globals, { actsFor, interruption, atHand, tree, env }: Circumstances): Context {
  const where = () => resolveWhere(globals, env);
  const place = async () => {
    const found = atHand ? resolvePlace(globals, env) : await where();
    if (found.kind === "server") throw operatorOnly(found);
    return found;
  };
  const context: Context = {
    globals,
    actsFor,
    tree,
    where,
    place,
    interruption,
    givenKeys: () => givenKeys(env),
    secretEnv: { [KEY_VARIABLE]: env[KEY_VARIABLE] },
    async withStore(work, { writesMany = false } = {}) {
      const [{ openExisting }, { systemClock }, { randomIds }, beside] = await Promise.all([
        import("../place/local-store.ts"),
        import("../../core/kernel/clock.ts"),
        import("../../core/kernel/ids.ts"),
        writesMany ? writerForMany() : {},
      ]);
      const sources = { clock: systemClock, ids: randomIds() };
      const store = await openExisting(await place(), { ...sources, ...beside, onWait: context.note });
      try {
        return await work({ store, ...sources });
      } finally {
        await store.close();
      }
    },
    async withApi(work, ownerOf, use) {
      const found = await where();
      if (found.kind === "server") {
        const { withRemoteApi } = await import("../client/remote.ts");
        return withRemoteApi(context, { server: found, actsFor }, work);
      }
      const { withLocalApi } = await import("../client/in-process.ts");
      return withLocalApi(context, { ...actsFor, ownerOf, use }, work);
    },
    async confirm(question, { whose, changes } = {}) {
      const [{ confirm }, { makeSheet }] = await Promise.all([
        import("../output/prompts.ts"),
        import("../output/make-sheet.ts"),
      ]);
      const place = placeWords(await where());
      const before = changes && (() => changes(makeSheet(process.stderr, globals)));
      await confirm(`${question} (${whose === undefined ? "" : `${whose}, `}${place})`, globals, before);
    },
    async print(listing) {
      const { printListing } = await import("../output/listing.ts");
      await printListing(listing, globals);
      return null;
    },
    ...linesFor(globals),
  };
  return context;
}

async function writerForMany(): Promise<Pick<Sources, "startWriter">> {
  const { startWriter } = await import("../../daemon/writer/start-writer.ts");
  return { startWriter: (work) => startWriter({ ...work, bulk: true }) };
}

function linesFor({ quiet }: Globals): Pick<Context, "note" | "warn"> {
  const warn = (line: string) => void process.stderr.write(`${terminalText(line, { colors: false })}\n`);
  return { note: (line) => (quiet ? undefined : warn(line)), warn };
}
