import type { ComponentChildren } from "preact";
import { type CurrentStatus, currentStatus, type PlatformStatus } from "../../../core/insight/status.ts";
import { isSound } from "../../../core/maintenance/finding.ts";
import { checkState } from "../../../core/maintenance/state-checks.ts";
import { Bars } from "../../parts/chart.tsx";
import { backLink, type Fields, links, pageShown, record, table } from "../../parts/shown.tsx";
import { plain } from "../../parts/words.ts";
import { consolePage } from "../../session/page.ts";
import type { ConsoleVisit, Shown } from "../../session/visit.ts";

async function statusPage(visit: ConsoleVisit): Promise<Shown> {
  const seen = await currentStatus(visit.store);
  const { serving, writes_held_ms: held } = seen;
  const state: Fields = [
    ["Served since", { time: serving.since }],
    ["Writes", held === null ? "flow" : `held up for ${Math.round(held / 1_000)} s by another session`],
    ["Seen", { time: seen.at }],
  ];
  const pages = [
    ["/platform/doctor", "Doctor"] as const,
    ["/platform/audit", "Audit trail"] as const,
    ["/platform/logs", "Look up a request"] as const,
    ["/deliveries", "Webhook deliveries"] as const,
    visit.may("users") ? (["/users", "Users"] as const) : null,
    visit.may("suppliers.read") ? (["/carriers", "Carriers"] as const) : null,
  ];
  const body = (
    <>
      <div class="acts">{links(visit, pages)}</div>
      <h2>Database</h2>
      {record(visit, state)}
      {tables(visit, seen)}
      <section>
        <h2>The last hour</h2>
        {minutes("Requests", seen.requests)}
        {minutes("Orders", seen.orders)}
        {minutes("Webhooks sent", seen.webhook_tries)}
        <p class="hint">{seen.requests.failed} requests failed on our side.</p>
      </section>
    </>
  );
  return pageShown(visit, "Platform", body);
}

/** Everything of which there are several. */
function tables(visit: ConsoleVisit, seen: CurrentStatus): ComponentChildren {
  const { serving, paused, outages, queues, cron_runs, failing_endpoints } = seen;
  return [
    table(visit, { title: "Nodes", rows: serving.nodes, empty: "No node has recorded that it serves yet." }, [
      { title: "Node", cell: (one) => one.url },
      { title: "State", cell: (one) => ({ status: one.state }) },
      { title: "Since", cell: (one) => ({ time: one.since }) },
      { title: "Seen", cell: (one) => ({ time: one.last_seen_at }) },
      { title: "Runs cron", cell: (one) => (one.runs_cron ? "yes" : "no") },
      { title: "Sends mail", cell: (one) => (one.sends_mail ? "yes" : "no") },
      { title: "Clock", cell: ({ clock_ahead_ms: ms }) => (ms === null ? "not compared yet" : `${ms} ms ahead`) },
      { title: "Replica", cell: ({ replica }) => (replica === null ? null : plain(replica.state)) },
    ]),
    table(visit, { title: "Pauses", rows: paused, empty: "New orders are accepted." }, [
      { title: "Paused", cell: ({ kind, name }) => (kind === "orders" ? "all new orders" : `supplier ${name}`) },
      { title: "Why", cell: (one) => one.reason },
      { title: "Since", cell: (one) => ({ time: one.since }) },
    ]),
    table(visit, { title: "Outages", rows: outages, empty: "No supplier and no carrier fails." }, [
      { title: "With", cell: ({ kind, name }) => `${kind} ${name}` },
      { title: "Since", cell: (one) => ({ time: one.since }) },
      { title: "Failures", right: true, cell: (one) => one.failures },
      { title: "Last error", cell: (one) => one.last_error },
      { title: "Waiting", right: true, cell: (one) => one.waiting },
      { title: "Next attempt", cell: (one) => ({ time: one.next_attempt_at }) },
    ]),
    table(visit, { title: "Queues", rows: queues, empty: "No queue." }, [
      { title: "Queue", cell: (one) => plain(one.queue) },
      { title: "For", cell: (one) => one.waits_for },
      { title: "Waiting", right: true, cell: (one) => one.waiting },
      { title: "Oldest", cell: (one) => ({ time: one.oldest_at }) },
    ]),
    table(visit, { title: "Last runs of cron jobs", rows: cron_runs, empty: "No cron job has run yet." }, [
      { title: "Job", cell: (one) => plain(one.job) },
      { title: "Last run", cell: (one) => ({ time: one.started_at }) },
      { title: "Took (ms)", right: true, cell: (one) => one.took_ms },
      { title: "Done", right: true, cell: (one) => one.done },
      { title: "Error", cell: (one) => one.error },
      { title: "Failing since", cell: (one) => ({ time: one.failing_since }) },
    ]),
    table(visit, { title: "Failing endpoints", rows: failing_endpoints, empty: "No endpoint fails." }, [
      { title: "Partner", cell: (one) => one.partner },
      { title: "Address", cell: (one) => one.url },
      { title: "Status", cell: (one) => ({ status: one.status }) },
      { title: "Since", cell: (one) => ({ time: one.failing_since }) },
      { title: "Failed attempts", right: true, cell: (one) => one.failed_attempts },
      { title: "Last code", right: true, cell: (one) => one.last_status_code },
    ]),
  ];
}

function minutes(title: string, { per_minute, total }: PlatformStatus["orders"]): ComponentChildren {
  const bars = per_minute.map((value, at) => ({ label: `${per_minute.length - at} min ago`, value }));
  return <Bars title={`${title}: ${total.toLocaleString("en")}`} bars={bars} />;
}

async function doctorPage(visit: ConsoleVisit): Promise<Shown> {
  // This very daemon serves it.
  const findings = await checkState(visit.store, { isLocked: true, clock: visit.context.clock });
  const body = (
    <>
      <p class={isSound(findings) ? "alert good" : "alert bad"}>
        {isSound(findings) ? "These checks find no fault." : "Something is wrong."}
      </p>
      {table(visit, { caption: "Findings", rows: findings }, [
        { title: "Check", cell: (one) => plain(one.check) },
        { title: "Level", cell: (one) => ({ status: one.level }) },
        { title: "Finding", cell: (one) => one.message },
        { title: "What to do", cell: (one) => one.remedy },
      ])}
      <section>
        <h2>What only the terminal checks</h2>
        <p>
          <code>esimctl doctor</code> also looks at the file and the schema of the database, the key file, rights and
          disk space, and reads all of the ledger, orders, stock, evidence and sealed values: too much for a request. It
          reads beside the daemon and changes nothing.
        </p>
        {backLink(visit, "/platform", "Platform")}
      </section>
    </>
  );
  return pageShown(visit, "Doctor", body);
}

/** How the platform does, and what is wrong with it. */
export const platformPages = [
  consolePage({ path: "/platform", needs: "platform.read", show: statusPage }),
  consolePage({ path: "/platform/doctor", needs: "platform.read", show: doctorPage }),
];
