import type { OrderEsims } from "../../client/answers.ts";
import { apiPath } from "../../client/api.ts";
import { orderId, ownerOfOrder } from "../../client/named.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { flag } from "../../kernel/input.ts";
import { pick } from "../../output/prompts.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { shown, statusPaint } from "../../output/words.ts";
import { orderArgument } from "./order.ts";

type Esim = OrderEsims["esims"][number];

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only; on the operator's data the audit trail records who did. An activation code is all that installing " +
    "an eSIM takes: show it to its traveler only.",
  json:
    "the API's body: {order_id, esims: [{iccid, activation_code, qr_code_url, install_url, status, …}], count}; with " +
    "--web {opened}",
  examples: [
    "orders esims ORD-20260301-7KQ2M",
    "orders esims 0190d3c2-7b4e-7cc1-9a55-0c6e1f2a3b4c --partner acme --qr",
  ],
  args: { id: orderArgument },
  options: {
    qr: flag("--qr", "draw each one's QR code here"),
    web: flag("--web", "open the install page of its eSIM in the browser; of several, one is picked"),
  },
  async run(context, { id, qr, web }) {
    const { body } = await context.withApi(
      async (api) => api.request<OrderEsims>("GET", apiPath`/orders/${await orderId(api, id)}/esims`),
      ownerOfOrder(id),
    );
    if (web) return opened(context, body);
    const draw = qr && !context.globals.json ? await codesOf(body.esims) : null;
    return {
      json: body,
      text: (sheet) =>
        body.esims.map((esim, at) => [esimText(sheet, esim), ...(draw?.(sheet, at) ?? [])].join("\n\n")).join("\n\n"),
    };
  },
});

/** Opens the traveler's page of one eSIM. Throws a usage error for several without a terminal to pick at. */
async function opened({ globals }: Context, { esims }: OrderEsims): Promise<Result> {
  const choices = esims.map(({ iccid, install_url }) => ({ value: install_url, name: iccid }));
  const [only] = choices;
  if (only === undefined) throw new CliError("no_page", "This order has no eSIM yet.", "Its page is there once it is.");
  const hint = "Leave --web out: the list has the address of each page.";
  const url = choices.length === 1 ? only.value : await pick("eSIM:", async () => choices, "One eSIM", globals, hint);
  const { openInBrowser } = await import("../../output/browser.ts");
  await openInBrowser(url);
  return { json: { opened: url }, text: () => `Opened ${url}` };
}

/** What draws each eSIM's code on a sheet. */
async function codesOf(all: readonly Esim[]): Promise<(sheet: Sheet, at: number) => string[]> {
  const { drawQr, showQr } = await import("../../output/qr.ts");
  const drawn = await Promise.all(all.map((esim) => (esim.unreadable ? null : drawQr(esim.activation_code))));
  return (sheet, at) => drawn.slice(at, at + 1).flatMap((code) => (code === null ? [] : showQr(sheet, code)));
}

function esimText(sheet: Sheet, esim: Esim): string {
  return sheet.fields({
    iccid: esim.iccid,
    status: statusPaint(sheet, esim.status)(esim.status),
    "activation code": esim.unreadable ? "unreadable" : shown(esim.activation_code),
    "confirmation code": shown(esim.confirmation_code),
    "QR code": esim.qr_code_url,
    install: esim.install_url,
  });
}
