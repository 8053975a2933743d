import { command } from "../frame/command.ts";
import { flag } from "../kernel/input.ts";
import { type Place, placeWords } from "../place/place.ts";

export default command({
  target: "process",
  effects:
    "Makes the directory with a database and a key file (0600) where there is none; leaves an existing one alone. " +
    "No key file where ESIMCTL_KEY or a systemd credential esimctl.key holds the key.",
  json: "{place, key_file (null: kept outside), created}; with --demo also demo: {partner, credentials}",
  examples: [
    "init",
    "init --data /var/lib/esimctl",
    "init --demo --data /tmp/try-it",
    "init --database postgres://esimctl@db/esimctl?sslmode=verify-full --key-file esimctl.key",
  ],
  args: {},
  options: { demo: flag("--demo", "with a sample catalog, stock, and a partner with funds and credentials") },
  async run(context, { demo }) {
    const place = await context.place();
    return demo ? initDemo(place) : initEmpty(place);
  },
});

async function initEmpty(place: Place) {
  const [{ openOrCreate }, { keyFileOf }, { prepareStore }, { systemClock }, { randomIds }] = await Promise.all([
    import("../place/local-store.ts"),
    import("../place/key-file.ts"),
    import("../../daemon/serve/prepare-store.ts"),
    import("../../core/kernel/clock.ts"),
    import("../../core/kernel/ids.ts"),
  ]);
  const { store, created } = await openOrCreate(place, { clock: systemClock, ids: randomIds() });
  try {
    await prepareStore(store);
  } finally {
    await store.close();
  }
  const json = { place: placeWords(place), key_file: keyFileOf(place), created };
  return { json, text: () => madeWords(json) };
}

async function initDemo(place: Place) {
  const [{ prepareDemo }, { keyFileOf }, { DEMO_PARTNER }] = await Promise.all([
    import("../demo/prepare.ts"),
    import("../place/key-file.ts"),
    import("../demo/content.ts"),
  ]);
  const { created, credentials, refused } = await prepareDemo(place);
  const json = { place: placeWords(place), key_file: keyFileOf(place), created };
  const rows = credentials.map(({ environment, client_id, client_secret }) => {
    const secret = refused.includes(client_id) ? "(rotated or revoked since)" : client_secret;
    return `  ${environment}: ${client_id} ${secret}`;
  });
  return {
    json: { ...json, demo: { partner: DEMO_PARTNER, credentials } },
    text: () => `${madeWords(json)}\n\nDemo partner "${DEMO_PARTNER}", client ids and secrets:\n${rows.join("\n")}`,
  };
}

interface Made {
  place: string;
  /** Null: the key is kept outside. */
  key_file: string | null;
  created: boolean;
}

function madeWords({ place, key_file, created }: Made): string {
  if (created && key_file === null) {
    return `Made ${place}. Its key is kept outside: keep a copy of it, without it identity data cannot be read.`;
  }
  return created
    ? `Made ${place}. Keep a copy of ${key_file} apart from the data: without it identity data cannot be read.`
    : `${place} is there already; nothing in it was changed.`;
}
