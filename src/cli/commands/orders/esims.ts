import type { OrderEsims } from "../../client/answers.ts";
import { type Api, apiPath } from "../../client/api.ts";
import { orderId, ownerOfOrder } from "../../client/identifiers.ts";
import { type Context, command } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { flag } from "../../kernel/input.ts";
import { pick } from "../../output/prompts.ts";
import type { Result } from "../../output/result.ts";
import type { Sheet } from "../../output/sheet.ts";
import { shown, statusPaint } from "../../output/words.ts";
import { orderArgument } from "./order.ts";

type Esim = OrderEsims["esims"][number];

/** eSIMs that are read at a time: memory does not grow with the order. */
const PAGE = 1_000;

export default command({
  target: "partner",
  shows: "record",
  effects:
    "Reads only; on the operator's data the audit trail records who did. An activation code is all that installing " +
    "an eSIM takes: show it to its traveler only. A large order is printed as it is read, 1,000 eSIMs at a time; " +
    "--jq and --template need all of it at once.",
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
  run(context, { id, qr, web }) {
    return context.withApi(async (api) => {
      let order_id = await orderId(api, id);
      if (web) return opened(context, await pageOf(api, order_id));
      async function* pages(): AsyncGenerator<Esim[]> {
        for (let cursor: string | undefined; ; ) {
          const page = await pageOf(api, order_id, cursor);
          order_id = page.order_id;
          yield page.esims;
          if (page.pagination?.next_cursor == null) return;
          cursor = page.pagination.next_cursor;
        }
      }
      const columns = async (sheet: Sheet, esim: Esim) =>
        [esimText(sheet, esim), ...(qr ? await codeOf(sheet, esim) : [])].join("\n\n");
      const rest = (count: number) => ({ order_id, count });
      return context.print<Esim>({ key: "esims", pages: pages(), columns, empty: "", rest });
    }, ownerOfOrder(id));
  },
});

/** A page of the eSIMs of an order: as many as the API allows. */
async function pageOf(api: Api, id: string, cursor?: string): Promise<OrderEsims> {
  const query = { limit: PAGE, cursor };
  return (await api.request<OrderEsims>("GET", apiPath`/orders/${id}/esims`, { query })).body;
}

/** Opens the traveler's page of one eSIM. Throws a usage error for several without a terminal to pick at. */
async function opened({ globals, note }: Context, { esims, pagination }: OrderEsims): Promise<Result> {
  if (pagination?.has_more === true) note(`These are the first ${PAGE} eSIMs of the order.`);
  const choices = esims.map(({ iccid, install_url }) => ({ value: install_url, name: iccid }));
  const [only] = choices;
  if (only === undefined) throw new CliError("no_page", "This order has no eSIM yet.", "Its page is there once it is.");
  const hint = "Leave --web out: the list has the address of each page.";
  const url = choices.length === 1 ? only.value : await pick("eSIM:", async () => choices, "One eSIM", globals, hint);
  const { openInBrowser } = await import("../../output/browser.ts");
  await openInBrowser(url);
  return { json: { opened: url }, text: () => `Opened ${url}` };
}

/** The QR code of an eSIM on a sheet; none of one whose code cannot be read. */
async function codeOf(sheet: Sheet, { activation_code, unreadable }: Esim): Promise<string[]> {
  if (unreadable) return [];
  const { drawQr, showQr } = await import("../../output/qr.ts");
  return [showQr(sheet, await drawQr(activation_code))];
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
