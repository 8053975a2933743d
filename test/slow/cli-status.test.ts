import { randomBytes } from "node:crypto";
import { execa } from "execa";
import { expect, onTestFinished, test, vi } from "vitest";
import { program } from "../support/cli.ts";
import { openShop } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";

/** A terminal of its own, with a shell in it. */
async function terminal() {
  const socket = `esimctl-${randomBytes(6).toString("hex")}`;
  const tmux = async (...args: string[]) => (await execa("tmux", ["-L", socket, ...args])).stdout;
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "40", "bash --norc");
  onTestFinished(() => void tmux("kill-server"));
  return {
    type: (keys: string, ...more: string[]) => tmux("send-keys", keys, ...more),
    shows: (words: RegExp) =>
      vi.waitFor(async () => expect(await tmux("capture-pane", "-p")).toMatch(words), {
        timeout: 20_000,
        interval: 200,
      }),
  };
}

test("status --watch follows what happens on a screen of its own, and gives the terminal back", async () => {
  const shop = { stock: { EU5: 5 }, priceCents: 100, fundsCents: 1000 };
  const { data } = await openShop({ folder: temporaryDirectory(), ...shop });
  const line = (words: string) => `${process.execPath} ${program} ${words} --data ${data}`;
  for (const key of ["q", "C-c"]) {
    const { type, shows } = await terminal();
    await type("PS1='ready '; echo before", "Enter");
    await shows(/before/);
    await type(`${line("status --watch")}; echo ended with $?`, "Enter");
    await shows(/orders due +\d[\s\S]*q or Ctrl-C ends/);
    if (key === "q") {
      const [command = "", ...args] = line("orders create --product EU5 --quantity 1 --partner acme").split(" ");
      await execa(command, args);
      await shows(/orders due +1/);
    }
    await type(key);
    await shows(/before[\s\S]*ended with 0\nready/);
  }
});
