import { command } from "../frame/command.ts";
import { flag } from "../kernel/input.ts";
import { type Place, placeOptions, placeWords } from "../place/place.ts";

export default command({
  target: "process",
  effects:
    "Makes the directory with a database and a key file (0600) where there is none; leaves an existing one alone. " +
    "No key file where ESIMCTL_KEY or a systemd credential esimctl.key holds the key.",
  json:
    "{place, key_file (null: kept outside), created}; with --demo also demo: {partner, credentials, users: [{face, " +
    "email, password, totp}]}",
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
  const [{ openOrCreate }, { keyFileOf, madeWords }, { prepareStore }, { systemClock }, { randomIds }] =
    await Promise.all([
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
  const words = created ? `${madeWords(place)}\n\n${nextSteps(place)}` : unchangedWords(place);
  return { json, text: () => words };
}

async function initDemo(place: Place) {
  const [{ prepareDemo }, { signIns }, { keyFileOf, madeWords }, { DEMO_PARTNER }] = await Promise.all([
    import("../demo/prepare.ts"),
    import("../demo/words.ts"),
    import("../place/key-file.ts"),
    import("../demo/content.ts"),
  ]);
  const { created, credentials, refused, users, publicUrl } = await prepareDemo(place);
  const json = { place: placeWords(place), key_file: keyFileOf(place), created };
  const rows = credentials.map(({ environment, client_id, client_secret }) => {
    const secret = refused.includes(client_id) ? "(rotated or revoked since)" : client_secret;
    return `  ${environment}: ${client_id} ${secret}`;
  });
  return {
    json: { ...json, demo: { partner: DEMO_PARTNER, credentials, users } },
    text: () => {
      const made = created ? madeWords(place) : unchangedWords(place);
      const next = `Next: esimctl serve${placeOptions(place)}`;
      const people = signIns(users, publicUrl, Date.now()).join("\n");
      const partner = `Demo partner "${DEMO_PARTNER}", client ids and secrets:\n${rows.join("\n")}`;
      return `${made}\n\n${partner}\n\n${people}\n${next}`;
    },
  };
}

function unchangedWords(place: Place): string {
  return `${placeWords(place)} is there already; nothing in it was changed.`;
}

/** The way from an empty installation to a partner's first order, as lines to paste. */
function nextSteps(place: Place): string {
  const at = placeOptions(place);
  const steps: [line: string, what: string][] = [
    ["products import products.csv", "a catalog; its columns: --help"],
    ["partners create acme --name Acme", "a partner"],
    ["credentials create --partner acme", "its sandbox credential"],
    ["serve", "the API, and its reference at /docs"],
  ];
  const lines = steps.map(([line, what]) => [`  esimctl ${line}${at}`, what] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  return ["Next steps:", ...lines.map(([line, what]) => `${line.padEnd(width)}  # ${what}`)].join("\n");
}
