import { setTimeout as pause } from "node:timers/promises";
import { counted } from "../../../core/kernel/counted.ts";
import { type Context, command } from "../../frame/command.ts";
import { usageError } from "../../kernel/errors.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { argument, flag } from "../../kernel/input.ts";
import { type Result, recordResult } from "../../output/result.ts";
import { yesNo } from "../../output/words.ts";
import { OPERATOR } from "../../place/operator.ts";

const KINDS = ["signing", "data", "master", "links"] as const;

export default command({
  target: "operator",
  effects:
    "signing: a new key signs tokens from now on; tokens under older keys stay valid until they expire, with --now " +
    "they are refused at once. data: a new key seals identity data and secrets from now on, everything is encrypted " +
    "again, and the old key is deleted. master: a new key file takes the place of the old one, which is kept. links: " +
    "addresses of QR codes and install pages made before lead nowhere; asks first. The daemon may go on serving.",
  json:
    "signing: {key_id}; data: {key_id, resumed, resealed, unreadable, dropped, finished, erased}; " +
    "master: {key_file, old_key_file}; links: {key_id, links}",
  examples: [
    "keys rotate signing",
    "keys rotate signing --now",
    "keys rotate data",
    "keys rotate master",
    "keys rotate links",
  ],
  batches: true,
  args: { what: argument("what", KINDS.join(", "), { oneOf: KINDS }) },
  options: { now: flag("--now", "signing: refuse all tokens under older keys from now on, for keys that leaked") },
  async run(context, { what, now }) {
    if (now && what !== "signing") throw usageError("--now goes with signing.", "Leave it out.");
    if (what === "signing") return rotateSigning(context, now);
    if (what === "data") return rotateData(context);
    if (what === "master") return rotateMaster(context);
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
    import("../../../core/credentials/rotate-master-key.ts"),
    import("../../place/key-file.ts"),
  ]);
  const keyFile = keyFileOf(await context.place());
  const rotated = await context.withStore(({ store, ids }) =>
    rotateMasterKey(store, { keyFile, ids, actor: OPERATOR }),
  );
  return recordResult(
    rotated,
    () => ({ "new key file": rotated.key_file, "old key file": rotated.old_key_file }),
    "Copy the new key file apart from the data, and to every other node. Keep the old one as long as you keep " +
      "backups that were made without their key; those that hold it open as before.",
  );
}

async function rotateLinks(context: Context): Promise<Result> {
  const { countLinks, rotateLinkKey } = await import("../../../core/credentials/rotate-link-key.ts");
  const links = await context.withStore(({ store }) => store.read(countLinks, null));
  await context.confirm(`End the addresses of the QR codes and install pages of ${counted(links, "eSIM")}?`);
  const key_id = await context.withStore(({ store }) => store.write(rotateLinkKey, { actor: OPERATOR }));
  return recordResult(
    { key_id, links },
    () => ({ "new key of the links": key_id, "eSIMs with new addresses": String(links) }),
    "Addresses that travellers have lead nowhere. Partners read the new ones from the API and pass them on.",
  );
}

async function rotateData(context: Context): Promise<Result> {
  const [{ rotateAndReseal }, { startProgress }, { eraseRemains, NOT_ERASED }] = await Promise.all([
    import("../../../core/credentials/rotate-data-key.ts"),
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
