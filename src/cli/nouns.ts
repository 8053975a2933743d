import type { Noun } from "./frame/command.ts";
import { noun } from "./frame/listed.ts";

/** Nouns and their verbs, in the order of the help. */
export const nouns: readonly Noun[] = [
  noun("partners", "resellers: tier, agent record, production access", {
    create: ["add a partner", "data", () => import("./commands/partners/create.ts")],
    list: ["all partners, by slug", "data", () => import("./commands/partners/list.ts")],
    show: ["one partner", "data", () => import("./commands/partners/show.ts")],
    update: [
      "change tier, agent record, production access, rate limit or other limits",
      "data",
      () => import("./commands/partners/update.ts"),
    ],
    suspend: ["stop a partner's API access at once", "data", () => import("./commands/partners/suspend.ts")],
    resume: ["restore a suspended partner's API access", "data", () => import("./commands/partners/resume.ts")],
  }),
  noun("users", "people who use portal and console: roles, invitations", {
    invite: ["invite a person: prints a link, valid once", "data", () => import("./commands/users/invite.ts")],
    list: ["all users, or those of a partner", "data", () => import("./commands/users/list.ts")],
    show: ["one user", "data", () => import("./commands/users/show.ts")],
    update: ["change a user's role", "data", () => import("./commands/users/update.ts")],
    disable: ["end a user's access at once", "data", () => import("./commands/users/disable.ts")],
    enable: ["let a disabled user sign in again", "data", () => import("./commands/users/enable.ts")],
    reset: [
      "take password and factors away, and invite the user again",
      "data",
      () => import("./commands/users/reset.ts"),
    ],
  }),
  noun("credentials", "API credentials: of partners, or at a server your own", {
    create: ["issue a credential", "both", () => import("./commands/credentials/create.ts")],
    list: ["a partner's credentials, revoked ones too", "both", () => import("./commands/credentials/list.ts")],
    show: ["one credential with its guard rails", "both", () => import("./commands/credentials/show.ts")],
    update: [
      "restrict a credential: addresses, expiry, spend per order and day",
      "data",
      () => import("./commands/credentials/update.ts"),
    ],
    rotate: ["replace a credential's secret", "both", () => import("./commands/credentials/rotate.ts")],
    revoke: ["revoke a credential and its tokens", "both", () => import("./commands/credentials/revoke.ts")],
  }),
  noun("wallet", "prepaid money: balances, ledger, audit", {
    balance: ["what a wallet holds, by currency", "both", () => import("./commands/wallet/balance.ts")],
    transactions: [
      "what moved a wallet, newest first, with the balance after it",
      "both",
      () => import("./commands/wallet/transactions.ts"),
    ],
    statement: [
      "a month of a wallet: opening, movements, closing",
      "both",
      () => import("./commands/wallet/statement.ts"),
    ],
    credit: ["record a payment and credit a wallet", "data", () => import("./commands/wallet/credit.ts")],
    debit: ["debit a wallet: a payout or a correction", "data", () => import("./commands/wallet/debit.ts")],
    funding: [
      "money that partners announce: list it, credit it, cancel it",
      "data",
      () => import("./commands/wallet/funding-requests.ts"),
    ],
    ledger: [
      "a partner's ledger transactions with their postings, newest first",
      "data",
      () => import("./commands/wallet/ledger.ts"),
    ],
    check: [
      "audit every balance against the ledger, and find low wallets",
      "data",
      () => import("./commands/wallet/check.ts"),
    ],
  }),
  noun("topups", "top-ups of eSIMs that wait for you", {
    list: ["top-ups that may have been bought, oldest first", "data", () => import("./commands/topups/list.ts")],
    complete: ["record that a top-up is on its eSIM", "data", () => import("./commands/topups/complete.ts")],
    fail: ["record that a top-up was not bought, and refund it", "data", () => import("./commands/topups/fail.ts")],
    retry: ["have a top-up looked up again", "data", () => import("./commands/topups/retry.ts")],
  }),
  noun("alerts", "alarms for the operator: by mail or webhook", {
    set: ["add a target, or replace its kinds", "data", () => import("./commands/alerts/set.ts")],
    list: ["what is wrong now, what was, and where alerts go", "data", () => import("./commands/alerts/list.ts")],
    test: ["send a test to the targets", "data", () => import("./commands/alerts/test.ts")],
    remove: ["remove a target", "data", () => import("./commands/alerts/remove.ts")],
  }),
  noun("products", "the catalog", {
    list: ["the catalog, with the API's filters and sorts", "both", () => import("./commands/products/list.ts")],
    show: ["one product with its details", "both", () => import("./commands/products/show.ts")],
    import: ["create and update products from CSV or JSON", "data", () => import("./commands/products/import.ts")],
    update: [
      "change a product: price, status, any field, what happens when stock ends",
      "data",
      () => import("./commands/products/update.ts"),
    ],
  }),
  noun("catalog", "the catalog for shops: Shopify, WooCommerce", {
    export: ["the catalog with retail prices, for a shop", "both", () => import("./commands/catalog/export.ts")],
  }),
  noun("prices", "price lists: what partners pay in place of the catalog's prices", {
    create: ["make a price list, without rules", "data", () => import("./commands/prices/create.ts")],
    list: ["all price lists, and whose they are", "data", () => import("./commands/prices/list.ts")],
    show: [
      "the rules of a price list, or what a partner pays for each product",
      "data",
      () => import("./commands/prices/show.ts"),
    ],
    set: [
      "set the price of a product, or the markup of a region, in a list",
      "data",
      () => import("./commands/prices/set.ts"),
    ],
    end: ["let a rule of a list end on a day", "data", () => import("./commands/prices/end.ts")],
    remove: ["remove a rule from a list", "data", () => import("./commands/prices/remove.ts")],
    import: ["set many rules of a list from CSV", "data", () => import("./commands/prices/import.ts")],
    delete: ["delete a price list that no partner has", "data", () => import("./commands/prices/delete.ts")],
  }),
  noun("fx", "what one currency is in another, by day", {
    set: ["set a rate from a day on", "data", () => import("./commands/fx/set.ts")],
    list: ["all rates, the newest day first", "data", () => import("./commands/fx/list.ts")],
  }),
  noun("stock", "eSIMs in stock, ready for sale", {
    import: ["put eSIMs in stock from CSV", "data", () => import("./commands/stock/import.ts")],
    list: ["how many eSIMs are free, by product", "data", () => import("./commands/stock/list.ts")],
    move: ["move free eSIMs from one product to another", "data", () => import("./commands/stock/move.ts")],
    low: ["products on sale that run out of eSIMs", "data", () => import("./commands/stock/low.ts")],
  }),
  noun("orders", "orders of partners: create, read, deliver, review", {
    create: ["order a product", "both", () => import("./commands/orders/create.ts")],
    quote: ["what an order would cost", "both", () => import("./commands/orders/quote.ts")],
    bulk: ["place many orders from CSV or JSON", "both", () => import("./commands/orders/bulk.ts")],
    list: ["orders, newest first: a partner's, or all partners'", "both", () => import("./commands/orders/list.ts")],
    show: ["one order with its lines and what was delivered", "both", () => import("./commands/orders/show.ts")],
    esims: ["the eSIMs of a fulfilled order", "both", () => import("./commands/orders/esims.ts")],
    queue: [
      "orders of all partners that wait for review, oldest first, and why",
      "data",
      () => import("./commands/orders/queue.ts"),
    ],
    approve: ["approve an order that waits for review", "data", () => import("./commands/orders/approve.ts")],
    reject: [
      "reject an order that waits for review, with a full refund",
      "data",
      () => import("./commands/orders/reject.ts"),
    ],
    ship: ["record that an order's physical SIMs went out", "data", () => import("./commands/orders/ship.ts")],
    cancel: [
      "cancel what was not delivered of an order, and refund exactly that",
      "data",
      () => import("./commands/orders/cancel.ts"),
    ],
    retry: ["retry the stuck parts of an order", "data", () => import("./commands/orders/retry.ts")],
    refund: ["refund an order or a part of it", "data", () => import("./commands/orders/refund.ts")],
    pause: ["refuse new orders of all partners", "data", () => import("./commands/orders/pause.ts")],
    resume: ["accept new orders again", "data", () => import("./commands/orders/resume.ts")],
  }),
  noun("suppliers", "who delivers what is not in stock: a provider's API, signed HTTP, mail", {
    list: ["all suppliers, by name", "data", () => import("./commands/suppliers/list.ts")],
    show: [
      "one supplier: how it is reached, its balance, its circuit, where it calls back",
      "data",
      () => import("./commands/suppliers/show.ts"),
    ],
    set: ["add a supplier, or change how it is reached", "data", () => import("./commands/suppliers/set.ts")],
    check: ["prove a provider's credential, balance and clock", "data", () => import("./commands/suppliers/check.ts")],
    sync: [
      "take over a provider's catalog: products, costs, prices by a markup",
      "data",
      () => import("./commands/suppliers/sync.ts"),
    ],
    owed: ["what a month's supply comes to, by supplier", "data", () => import("./commands/suppliers/owed.ts")],
    balance: ["what the accounts at providers hold", "data", () => import("./commands/suppliers/balance.ts")],
    pause: ["refuse new orders of a supplier's products", "data", () => import("./commands/suppliers/pause.ts")],
    resume: ["accept new orders of its products again", "data", () => import("./commands/suppliers/resume.ts")],
    simulate: [
      "run a provider's API on this machine, to try out all of it without an account",
      "-",
      () => import("./commands/suppliers/simulate.ts"),
    ],
  }),
  noun("sources", "where a product can be bought: plans of providers, by priority", {
    list: ["the sources of a product, the first one first", "data", () => import("./commands/sources/list.ts")],
    add: ["add a source to a product, or change it", "data", () => import("./commands/sources/add.ts")],
    remove: ["take a source away from a product", "data", () => import("./commands/sources/remove.ts")],
  }),
  noun("events", "what happened, in the order of commits", {
    list: ["a partner's events, oldest first", "both", () => import("./commands/events/list.ts")],
    show: ["one event", "both", () => import("./commands/events/show.ts")],
    tail: ["the events of the last hour, and what comes in", "both", () => import("./commands/events/tail.ts")],
  }),
  noun("webhooks", "where events go: endpoints, deliveries, secrets, a local receiver", {
    create: ["register an address that receives events", "both", () => import("./commands/webhooks/create.ts")],
    list: ["a partner's endpoints, newest first", "both", () => import("./commands/webhooks/list.ts")],
    show: ["one endpoint with its health", "both", () => import("./commands/webhooks/show.ts")],
    update: [
      "change an endpoint's address, kinds of events or description",
      "both",
      () => import("./commands/webhooks/update.ts"),
    ],
    delete: ["delete an endpoint and what waits for it", "both", () => import("./commands/webhooks/delete.ts")],
    listen: [
      "run a local receiver that checks signatures, or forward the feed of events to a local program",
      "both",
      () => import("./commands/webhooks/listen.ts"),
    ],
    verify: ["check a delivery's signature by hand", "-", () => import("./commands/webhooks/verify.ts")],
    deliveries: [
      "what was sent where, and the responses, newest first",
      "both",
      () => import("./commands/webhooks/deliveries.ts"),
    ],
    redeliver: [
      "send a delivery again, or all that did not arrive since a time",
      "both",
      () => import("./commands/webhooks/redeliver.ts"),
    ],
    replay: [
      "send again what did not arrive at an endpoint since a time",
      "both",
      () => import("./commands/webhooks/replay.ts"),
    ],
    enable: [
      "put a failed or disabled endpoint back in service",
      "both",
      () => import("./commands/webhooks/enable.ts"),
    ],
    disable: ["take an endpoint out of service", "both", () => import("./commands/webhooks/disable.ts")],
    test: ["send a sample event to one endpoint", "both", () => import("./commands/webhooks/test.ts")],
    trigger: ["send a sample event to a partner's endpoints", "data", () => import("./commands/webhooks/trigger.ts")],
    "rotate-secret": [
      "give an endpoint a new signing secret",
      "both",
      () => import("./commands/webhooks/rotate-secret.ts"),
    ],
  }),
  noun("esims", "eSIMs: status, usage, activation", {
    list: [
      "sold eSIMs, the newest order first: a partner's, or all partners'",
      "both",
      () => import("./commands/esims/list.ts"),
    ],
    status: ["an eSIM's state, data usage and location", "both", () => import("./commands/esims/status.ts")],
    usage: [
      "usage import: take over reports of data usage and location from CSV",
      "data",
      () => import("./commands/esims/usage.ts"),
    ],
    topup: [
      "more data for an eSIM: what fits, or with --product the top-up itself",
      "both",
      () => import("./commands/esims/topup.ts"),
    ],
    send: ["mail the install link of an eSIM to its traveler", "data", () => import("./commands/esims/send.ts")],
    activate: ["activate an eSIM, or take its suspension back", "data", () => import("./commands/esims/activate.ts")],
    suspend: ["suspend an eSIM until it is activated again", "data", () => import("./commands/esims/suspend.ts")],
    refund: ["give an unused eSIM back to its supplier", "data", () => import("./commands/esims/refund.ts")],
    replace: [
      "ask a supplier for another eSIM in a faulty one's place",
      "data",
      () => import("./commands/esims/replace.ts"),
    ],
    diagnose: [
      "why an eSIM does not work, and what to write to its traveler",
      "data",
      () => import("./commands/esims/diagnose.ts"),
    ],
  }),
  noun("activations", "physical SIMs: submit, move and cancel requests, work the queue", {
    submit: ["submit activation requests from CSV", "both", () => import("./commands/activations/submit.ts")],
    list: [
      "activation requests, newest first: a partner's, or all partners'",
      "both",
      () => import("./commands/activations/list.ts"),
    ],
    show: [
      "one activation request; --reveal: with what staff type into the carrier's portal",
      "both",
      () => import("./commands/activations/show.ts"),
    ],
    edit: [
      "correct the identity of a request that was not picked up yet",
      "both",
      () => import("./commands/activations/edit.ts"),
    ],
    cancel: ["cancel requests that were not picked up yet", "both", () => import("./commands/activations/cancel.ts")],
    reschedule: [
      "change date or note of requests that were not picked up yet",
      "both",
      () => import("./commands/activations/reschedule.ts"),
    ],
    queue: [
      "what is with carriers or waits for staff, over all partners, oldest first",
      "data",
      () => import("./commands/activations/queue.ts"),
    ],
    confirm: ["record that the carrier took a request in", "data", () => import("./commands/activations/confirm.ts")],
    complete: [
      "record that a SIM was activated, or that an order item was delivered",
      "data",
      () => import("./commands/activations/complete.ts"),
    ],
    correct: [
      "correct the number or eSIM that was recorded for a completed request",
      "data",
      () => import("./commands/activations/correct.ts"),
    ],
    fail: ["record that a request failed", "data", () => import("./commands/activations/fail.ts")],
    retry: [
      "send a request to its carrier again, from the first attempt",
      "data",
      () => import("./commands/activations/retry.ts"),
    ],
  }),
  noun("carriers", "carriers that activate physical SIMs, and their connections", {
    list: ["all carriers, by ICCID prefix", "data", () => import("./commands/carriers/list.ts")],
    set: [
      "add a carrier, or change how one is reached and what it needs",
      "data",
      () => import("./commands/carriers/set.ts"),
    ],
  }),
  noun("passports", "the identity pool: import, verify, withdraw, purge", {
    import: ["add passports to a partner's pool from CSV", "both", () => import("./commands/passports/import.ts")],
    list: ["a partner's pool, newest first", "both", () => import("./commands/passports/list.ts")],
    show: [
      "one passport of a partner's pool; --reveal: as operators see it, identity included",
      "both",
      () => import("./commands/passports/show.ts"),
    ],
    edit: ["change a passport of a partner's pool", "both", () => import("./commands/passports/edit.ts")],
    withdraw: ["take a passport out of a partner's pool", "both", () => import("./commands/passports/withdraw.ts")],
    queue: [
      "what awaits verification, over all partners, oldest first",
      "data",
      () => import("./commands/passports/queue.ts"),
    ],
    verify: [
      "verify passports, by id or by a file of verdicts",
      "data",
      () => import("./commands/passports/verify.ts"),
    ],
    reject: ["reject a passport", "data", () => import("./commands/passports/reject.ts")],
    uses: ["which requests drew a passport", "data", () => import("./commands/passports/uses.ts")],
    purge: [
      "clear identity data that is no longer needed, in all records",
      "data",
      () => import("./commands/passports/purge.ts"),
    ],
  }),
  noun("sandbox", "test without waiting: a clock to advance, reports on sandbox eSIMs", {
    clock: ["what a partner's sandbox clock shows", "both", () => import("./commands/sandbox/clock.ts")],
    advance: [
      "move the sandbox clock forward; what becomes due is done",
      "both",
      () => import("./commands/sandbox/advance.ts"),
    ],
    reset: ["set the sandbox clock back to the system's time", "both", () => import("./commands/sandbox/reset.ts")],
    esim: [
      "report what happened to a sandbox eSIM: activation, usage, expiry, …",
      "both",
      () => import("./commands/sandbox/esim.ts"),
    ],
  }),
  noun("audit", "the audit trail", {
    list: ["the audit trail, newest first", "data", () => import("./commands/audit/list.ts")],
    verify: [
      "whether the audit trail and the ledger are as they were written",
      "data",
      () => import("./commands/audit/verify.ts"),
    ],
    export: [
      "the audit trail and the ledger as JSON lines, with the signatures of their chains",
      "data",
      () => import("./commands/audit/export.ts"),
    ],
  }),
  noun("logs", "the daemon's log", {
    tail: ["the end of the daemon's log, and what comes in", "data", () => import("./commands/logs/tail.ts")],
  }),
  noun("settings", "what the installation shows of itself", {
    set: ["set the bank details that partners see", "data", () => import("./commands/settings/set.ts")],
  }),
  noun("keys", "the keys of tokens and of sealed data", {
    rotate: [
      "make a new signing key, data key, master key, or key of the links",
      "data",
      () => import("./commands/keys/rotate.ts"),
    ],
  }),
];
