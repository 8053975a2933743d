import { startDaemon } from "./daemon.ts";
import { demoData } from "./installation.ts";
import { forAllTests } from "./owner.ts";
import { temporaryDirectory } from "./store.ts";
import { esimctl, esimctlJson } from "./warm.ts";

/** A daemon that may send to loopback. */
export const flags = ["--allow-private-webhooks"];

/** One installation for all tests of a file, and partners of it that work in the terminal. */
export function webhookShops() {
  /** Demo data, and a daemon on it. */
  const installation = forAllTests(async (owner) => {
    const { data } = await demoData(temporaryDirectory(owner));
    return { data, daemon: await startDaemon({ data, flags, owner }) };
  });

  /** A new partner of the installation, and the terminal on its data and at its server. */
  async function shop(slug: string) {
    const { data, daemon } = installation();
    const at = (line: string) => [...line.split(" "), "--data", data];
    const json = async (line: string) => Object(await esimctlJson(at(line)));
    await json(`partners create ${slug} --name ${slug} --production`);
    return {
      data,
      daemon,
      run: (line: string) => esimctl(at(line)),
      json,
      /** The same at the server, with a sandbox credential of the partner. */
      async atServer(partner = slug) {
        const { client_id, client_secret } = await json(`credentials create --partner ${partner}`);
        const as = ["--server", daemon.url, "--client-id", client_id, "--client-secret", client_secret];
        return {
          as,
          run: (line: string) => esimctl([...line.split(" "), ...as]),
          json: async (line: string) => Object(await esimctlJson([...line.split(" "), ...as])),
        };
      },
    };
  }

  return { shop };
}
