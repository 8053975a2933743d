import { command } from "../command.ts";
import { placeWords } from "../place.ts";

export const init = command({
  name: "init",
  summary: "make a data directory",
  stand: "process",
  effects:
    "Makes the directory with a database and a key file (0600) where there is none; leaves an existing one alone.",
  json: "{place, key_file, created}",
  examples: [
    "init",
    "init --data /var/lib/esimctl",
    "init --database postgres://esimctl@db/esimctl --key-file esimctl.key",
  ],
  args: {},
  options: {},
  async run(context) {
    const [{ openOrCreate }, { systemClock }, { randomIds }, { dataDirectory }] = await Promise.all([
      import("../local-store.ts"),
      import("../../core/kernel/clock.ts"),
      import("../../core/kernel/ids.ts"),
      import("../../core/store/data-directory.ts"),
    ]);
    const place = context.place();
    const { store, created } = await openOrCreate(place, { clock: systemClock, ids: randomIds() });
    await store.close();
    const keyFile = place.kind === "directory" ? dataDirectory(place.path).keyFile : place.keyFile;
    const where = placeWords(place);
    return {
      json: { place: where, key_file: keyFile, created },
      text: () =>
        created
          ? `Made ${where}. Keep a copy of ${keyFile} apart from the data: without it identity data cannot be read.`
          : `${where} is there already; nothing was changed.`,
    };
  },
});
