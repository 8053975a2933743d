import { setTimeout as pause } from "node:timers/promises";
import { counted } from "../../../core/kernel/counted.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag, text } from "../../kernel/input.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { shown, yesNo } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";

const KINDS = ["signing", "data", "master", "links"] as const;

export default command({
  target: "operator",
  effects:
    "signing: a new key signs tokens from now on; tokens under older keys stay valid until they expire, with --now " +
    "they are refused at once. data: a new key seals identity data and secrets from now on, everything is encrypted " +
    "again, and the old key is deleted. master: a new key file takes the place of the old one, which is kept; with " +
    "--new-key FILE that key, which you keep outside, and a key file that is there is put aside. links: " +
    "addresses of QR codes and install pages made before lead nowhere; asks first. The daemon may go on serving.",
  json:
    "signing: {key_id}; data: {key_id, resumed, resealed, unreadable, dropped, finished, erased}; " +
    "master: {key_file, old_key_file (null each: kept outside)}; links: {key_id, links}",
  examples: [
    "keys rotate signing",
    "keys rotate signing --now",
    "keys rotate data",
    "keys rotate master",
    "keys rotate master --new-key new.key",
    "keys rotate links",
  ],
  batches: true,
  args: { what: argument("what", KINDS.join(", "), { oneOf: KINDS }) },
  options: {
    now: flag("--now", "signing: refuse all tokens under older keys from now on, for keys that leaked"),
    newKey: text("--new-key <file>", "master: a new key that you keep outside; - reads it from stdin or asks"),
  },
  async run(context, { what, now, newKey }) {
    if (now && what !== "signing") throw usageError("--now goes with signing.", "Leave it out.");
    if (newKey !== undefined && what !== "master") throw usageError("--new-key goes with master.", "Leave it out.");
    if (what === "signing") return rotateSigning(context, now);
    if (what === "data") return rotateData(context);
    if (what === "master") return newKey === undefined ? rotateMaster(context) : rotateToGiven(context, newKey);
    if (what === "links") return rotateLinks(context);
    throw usageError(`There is no "${what}" key.`, `Name one of ${KINDS.join(", ")}.`);
  },
});

async function rotateSigning(context: Context, atOnce: boolean): Promise<Result> {
  const { rotateSigningKey } = await import("../../../core/credentials/signing-keys.ts");
  const key_id = await context.withStore(({ store }) => store.write(rotateSigningKey, { actor: OPERATOR, atOnce }));
  const more = atOnce
    ? "Tokens under older keys are refused from now on; clients get new ones by themselves."
    : "Tokens under older keys stay valid until they expire; keys rotate signing --now refuses them at once.";
  return recordResult({ key_id }, () => ({ "new signing key": key_id }), more);
}

async function rotateMaster(context: Context): Promise<Result> {
  const [{ rotateMasterKey }, { keyFileOf }] = await Promise.all([
    import("../../../core/credentials/rotate-keys.ts"),
    import("../../place/key-file.ts"),
  ]);
  const place = await context.place();
  const keyFile = keyFileOf(place);
  if (keyFile === null) {
    const names = place.given.map(({ name }) => name).join(" and ");
    throw usageError(
      `The master key comes from ${names}, where esimctl cannot replace it.`,
      "Make a new one and give it: keys rotate master --new-key FILE, or - for standard input.",
    );
  }
  const rotated = await context.withStore(({ store, ids }) =>
    rotateMasterKey(store, { keyFile, ids, actor: OPERATOR }),
  );
  return recordResult(
    rotated,
    () => ({ "new key file": shown(rotated.key_file), "old key file": shown(rotated.old_key_file) }),
    "Copy the new key file apart from the data, and to every other node. Keep the old one as long as you keep " +
      "backups that were made without their key; those that hold it open as before.",
  );
}

/** Rotates to a key that the operator made; prints no key. */
async function rotateToGiven(context: Context, file: string): Promise<Result> {
  const [{ rotateToGivenKey }, { keysOf }, { readKeyFile }] = await Promise.all([
    import("../../../core/credentials/rotate-keys.ts"),
    import("../../place/key-file.ts"),
    import("../../../core/store/sealing/key-files.ts"),
  ]);
  const keys = keysOf(await context.place());
  const next =
    file === "-"
      ? { text: await readSecretArgument("-", "New master key", context.globals), name: "The given key" }
      : { text: readKeyFile(file), name: file };
  const rotated = await context.withStore(({ store }) => rotateToGivenKey(store, { keys, next, actor: OPERATOR }));
  return recordResult(
    rotated,
    () => ({ "old key file": shown(rotated.old_key_file) }),
    "Put the new key into ESIMCTL_KEY or the credential esimctl.key, on every node: each start needs it from now on. " +
      "Daemons that run serve on, and need a restart before keys rotate data or links. Keep the old key as long as " +
      "you keep backups that were made without their key.",
  );
}

async function rotateLinks(context: Context): Promise<Result> {
  const { countLinks, rotateLinkKey } = await import("../../../core/credentials/rotate-keys.ts");
  const links = await context.withStore(({ store }) => store.read(countLinks, null));
  await context.confirm(`End the addresses of the QR codes and install pages of ${counted(links, "eSIM")}?`);
  const key_id = await context.withStore(({ store }) => store.write(rotateLinkKey, { actor: OPERATOR }));
  return recordResult(
    { key_id, links },
    () => ({ "new key of the links": key_id, "eSIMs with new addresses": String(links) }),
    "Addresses that travelers have lead nowhere. Partners read the new ones from the API and pass them on.",
  );
}

async function rotateData(context: Context): Promise<Result> {
  const [{ rotateAndReseal }, { startProgress }, { eraseRemains, NOT_ERASED }] = await Promise.all([
    import("../../../core/credentials/rotate-keys.ts"),
    import("../../output/progress.ts"),
    import("../../place/erase-remains.ts"),
  ]);
  const signal = context.interruption;
  const progress = startProgress(context.globals);
  const done = await context
    .withStore(async ({ store }) => {
      const rotation = await rotateAndReseal(store, {
        actor: OPERATOR,
        // A daemon that waits for the database looks again at least every 50 ms.
        rest: () => pause(60),
        signal,
        progress: (resealed) => progress.show("Encrypting again", resealed, null),
      });
      return { ...rotation, erased: await eraseRemains(store, signal) };
    })
    .finally(progress.stop);
  const { keyId: key_id, resumed, resealed, unreadable, dropped, finished, erased } = done;
  const text = {
    "current data key": key_id,
    "went on with a rotation": yesNo(resumed),
    "encrypted again": String(resealed),
    ...(unreadable > 0 ? { "cannot be read": String(unreadable) } : {}),
    "old keys deleted": String(dropped),
  };
  const open = unreadable > 0 ? "The old key stays: see esimctl doctor." : "Not finished: the same command goes on.";
  const sealed = finished ? "Everything is sealed under the current key." : open;
  const more = erased ? sealed : `${sealed} ${NOT_ERASED}`;
  return {
    ...recordResult({ key_id, resumed, resealed, unreadable, dropped, finished, erased }, () => text, more),
    exitCode: finished ? exitCodes.done : signal.aborted ? exitCodes.interrupted : exitCodes.failed,
  };
}
