/** @module-tag slow */
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { eventually } from "../support/hangs.ts";
import { launch } from "../support/process.ts";
import { temporaryDirectory } from "../support/store.ts";
import { blocksOf, linesLacking } from "../support/tour-page.ts";
import { openShell, type TypedShell } from "../support/typed-shell.ts";
import { esimctlJson } from "../support/warm.ts";

/** What the page leaves to a person, before a block: to wait a second, or to stop the provider. */
type Meanwhile = readonly [block: RegExp, act: () => Promise<unknown>];

test("what the tour of suppliers has to type does what the page says, word for word", async () => {
  const folder = temporaryDirectory();
  const ports = { "8801": String(await freePort()), "8802": String(await freePort()) };
  const onFreePorts = (text: string) => text.replaceAll(/\b(8801|8802)\b/g, (port) => Object(ports)[port]);
  const [first, ...blocks] = blocksOf("docs/suppliers.md", "Ten minutes without an account");
  if (first === undefined) throw new Error("the tour is not there");
  const [command, ...args] = onFreePorts(first.code).split(" ");
  expect(command).toBe("esimctl");
  const provider = launch(args);
  await provider.printed("Ctrl-C");
  expect(linesLacking(first.shown.map(onFreePorts), provider.text())).toEqual([]);

  const shell = await openShell(folder);
  const { delivered, used, owed, failing, serving } = waits(folder, ports["8802"]);
  const meanwhile: Meanwhile[] = [
    [/^TOKEN=/, serving],
    [/^ORDER=/, delivered],
    [/^curl .*\/status/, used],
    [/^esimctl esims diagnose/, owed],
    [/^UNUSED=/, delivered],
    [/^esimctl orders show \$\(.*\)$/, delivered],
    [/^esimctl orders show \$\(.*\)\ncurl/, delivered],
    [/^esimctl orders create .*EA-CJP101 --quantity 1$/, () => provider.end("SIGINT")],
    [/^esimctl status/, failing],
  ];
  for (const { code, shown } of blocks) {
    const [waited, ...others] = meanwhile.filter(([block]) => block.test(code));
    expect([code, others]).toEqual([code, []]);
    await waited?.[1]();
    if (waited !== undefined) meanwhile.splice(meanwhile.indexOf(waited), 1);
    const answer = await shell.type(onFreePorts(code));
    if (code.includes("serve ")) await endedWithTest(shell);
    expect(linesLacking(shown.map(onFreePorts), answer), `${code}\n${answer}`).toEqual([]);
    if (code.startsWith("TOPUP=")) await sameTopup(shell, { again: onFreePorts(code), answer });
    if (code.startsWith("ORDER=")) await withoutCosts(shell);
  }
  // None of them was for a block that the page no longer has.
  expect(meanwhile).toEqual([]);
  await shell.type("kill %1; wait");
});

/** Waits for what the daemon does by itself, in the folder's data. */
function waits(folder: string, port: string) {
  const ask = async (words: string) => Object(await esimctlJson(words.split(" "), { cwd: folder }));
  const until = (words: string, holds: (answer: ReturnType<typeof Object>) => boolean) => () =>
    eventually(() => ask(words), holds);
  const month = new Date().toISOString().slice(0, 7);
  return {
    serving: () => eventually(() => answers(`http://127.0.0.1:${port}/readyz`), Boolean),
    delivered: until("orders list --limit 1", ({ data }) => data[0].status !== "paid"),
    used: until("esims list", ({ data }) => data[0].used_mb === 600),
    owed: until(`suppliers owed --month ${month}`, ({ data }) => data[0].units === 2),
    failing: until("status", ({ outages }) => outages.length === 1),
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The daemon in the background must not outlive a test that fails. */
async function endedWithTest(shell: TypedShell): Promise<void> {
  const pid = Number((await shell.type("echo $!")).trim());
  expect(pid).toBeGreaterThan(1);
  onTestFinished(() => {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended as the tour does.
    }
  });
}

/** The same top-up is answered again, and charged once. */
async function sameTopup(shell: TypedShell, { again, answer }: { again: string; answer: string }): Promise<void> {
  const repeated = JSON.parse(await shell.type(again));
  const { id, wallet_balance_after_cents } = JSON.parse(answer);
  expect(repeated).toMatchObject({ id, wallet_balance_after_cents });
}

/** The partner's own program sees the order, and nothing of what it cost. */
async function withoutCosts(shell: TypedShell): Promise<void> {
  const list = await shell.type('curl -s $API/orders -H "$AUTH"');
  const [order] = JSON.parse(list).data;
  const own = await shell.type(`curl -s $API/orders/${order.id} -H "$AUTH"`);
  for (const text of [list, own]) expect(text).not.toMatch(/"cost|0\.7000|"ea"/);
}
