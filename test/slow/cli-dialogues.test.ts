import { join } from "node:path";
import { expect, test } from "vitest";
import { esimctlJson } from "../support/cli.ts";
import { temporaryDirectory } from "../support/store.ts";
import { openTerminal } from "../support/terminal.ts";

/** Data with the partners `acme` and `globex`, and a terminal of a given width that stands in its folder. */
async function installation({ columns = 90 } = {}) {
  const folder = temporaryDirectory();
  const data = join(folder, "data");
  const json = async (line: string): Promise<unknown> => esimctlJson([...line.split(" "), "--data", data]);
  await json("init");
  for (const slug of ["acme", "globex"]) await json(`partners create ${slug} --name ${slug} --agent`);
  const env = { ESIMCTL_DATA: data, XDG_CONFIG_HOME: folder };
  return { folder, data, json, terminal: await openTerminal({ cwd: folder, columns, env }) };
}

test("what must be given and is left out is asked for; an answer that will not do is asked for again", async () => {
  const { terminal, json } = await installation({ columns: 60 });
  const { esimctl, shows, enter, press, clear } = terminal;
  await esimctl("wallet credit");
  await shows(/Partner:[\s\S]*acme[\s\S]*globex/);
  await enter("glo");
  await shows(/Partner: globex[\s\S]*Amount/);
  await enter("1,5");
  await shows(/must be a plain decimal/);
  await press("C-u");
  await enter("12.50");
  await shows(/Currency/);
  await enter("AUD");
  await shows(/balance +12\.50 AUD[\s\S]*ended with 0/);
  await clear();
  await esimctl("partners create");
  await shows(/Slug/);
  await enter("initech");
  await shows(/Name/);
  await press("C-c");
  expect(await shows(/ended with 130/)).toMatch(/Interrupted\.\n.*Nothing was changed\.\n(?!.* at )/);
  expect(await json("partners list")).toMatchObject({ count: 2 });
  await clear();
  await esimctl("wallet credit --yes");
  await shows(/'--partner <slug>' not specified[\s\S]*ended with 2/);
});
