/** @module-tag slow */
import { test } from "vitest";
import { esimctlJson } from "../support/cli.ts";
import { openShop } from "../support/shop.ts";
import { temporaryDirectory } from "../support/store.ts";
import { openTerminal } from "../support/terminal.ts";

test("status --watch follows events on an alternate screen, and restores the terminal", async () => {
  const shop = { stock: { EU5: 20 }, priceCents: 100, fundsCents: 2000 };
  const { data } = await openShop({ folder: temporaryDirectory(), ...shop });
  for (const key of ["q", "C-c"]) {
    const { enter, press, shows, esimctl } = await openTerminal();
    await enter("echo before");
    await shows(/\nbefore/);
    await esimctl(`status --watch --data ${data}`);
    await shows(/orders due +daemon +\d[\s\S]*q or Ctrl-C ends/);
    if (key === "q") {
      // More than an order has that is fulfilled as it is created.
      await esimctlJson([..."orders create --product EU5 --quantity 11 --partner acme --data".split(" "), data]);
      await shows(/orders due +daemon +1/);
    }
    await press(key);
    await shows(/before[\s\S]*ended with 0\nready/);
  }
});
