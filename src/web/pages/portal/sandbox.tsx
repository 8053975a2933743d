import { counted } from "../../../core/kernel/counted.ts";
import { plainDigits } from "../../../core/kernel/iccid.ts";
import { invalid, Problem } from "../../../core/kernel/problem.ts";
import { advanceClock, resetClock, type SandboxClock, sandboxClock } from "../../../core/sandbox/clock.ts";
import { reportSandboxEsim } from "../../../core/sandbox/report.ts";
import { sandboxEsimEvents } from "../../../core/store/schema/values.ts";
import { formShown } from "../../parts/act-form.tsx";
import { ActButton } from "../../parts/form.tsx";
import { pageShown, record } from "../../parts/shown.tsx";
import { timeWords } from "../../parts/words.ts";
import { momentField } from "../../session/moment-field.ts";
import { portalPage } from "../../session/page.ts";
import { choiceField, field, integerField, type PortalVisit, requiredField, type Shown } from "../../session/visit.ts";
import { scenariosShown } from "./sandbox-scenarios.tsx";

const PATH = "/developers/sandbox";
const HOUR_MS = 3_600_000;
/** Most megabytes of a report, as the API has it. */
const MOST_MB = 1_000_000_000_000;

async function sandboxPage(visit: PortalVisit): Promise<Shown> {
  const isHere = visit.owner.environment === "sandbox";
  const clock = isHere ? await visit.store.read(sandboxClock, visit.owner.partnerId) : null;
  const mayWrite = visit.may("developers.write");
  return pageShown(visit, "Sandbox", [
    clock === null ? elsewhereShown(visit) : clockShown(visit, clock),
    clock !== null && mayWrite && clockActs(visit, clock.ahead_ms > 0),
    clock !== null && mayWrite && reportForm(visit),
    scenariosShown(visit),
  ]);
}

/** What is shown in production, with the way to the sandbox. */
function elsewhereShown(visit: PortalVisit) {
  return (
    <section>
      <p>The clock, reports and scenarios are of the sandbox, and you are in the production environment.</p>
      {!visit.viewing && (
        <ActButton visit={visit} to="/environment" label="Go to the sandbox" hidden={{ environment: "sandbox" }} />
      )}
    </section>
  );
}

/** "7 days, 12 hours": whole hours at the least. */
function aheadWords(ms: number): string {
  if (ms === 0) return "not ahead";
  const all = Math.floor(ms / HOUR_MS);
  const [days, hours] = [Math.floor(all / 24), all % 24];
  const parts = [days > 0 && counted(days, "day"), hours > 0 && counted(hours, "hour")].filter(Boolean);
  return parts.length === 0 ? "less than an hour" : parts.join(", ");
}

function clockShown(visit: PortalVisit, clock: SandboxClock) {
  return [
    <h2>Clock</h2>,
    record(visit, [
      ["It shows", { time: clock.now }],
      ["System's time", { time: clock.system_time }],
      ["Ahead", aheadWords(clock.ahead_ms)],
      ["Status", { status: clock.status }],
    ]),
    clock.status === "advancing" && <p class="alert">What came due is being done; that takes seconds.</p>,
    <p class="hint">
      It moves the times of sandbox orders, eSIMs and their events, and what expires; your whole team and all your
      sandbox credentials share it. Tokens, limits, retries and activations of physical SIM cards keep the system's
      time. It goes forward only, at most 400 days ahead.
    </p>,
  ];
}

const suggestions = Object.entries({ "1h": "an hour", "1d": "a day", "7d": "a week", P1M: "a month" });

function clockActs(visit: PortalVisit, isAhead: boolean) {
  const span = { suggestions, hint: "7d, 36h, or an ISO 8601 duration such as P1M.", required: true };
  const moment = { type: "datetime-local", hint: `In your time zone, ${visit.zone}.`, required: true };
  const form = { class: "acts", submit: "Advance" };
  return (
    <section>
      {formShown(visit, {
        ...form,
        to: `${PATH}/advance`,
        fields: [{ name: "advance", label: "Advance by", ...span }],
      })}
      {formShown(visit, {
        ...form,
        to: `${PATH}/advance-to`,
        fields: [{ name: "to", label: "Advance to", ...moment }],
      })}
      {isAhead && (
        <>
          <ActButton visit={visit} to={`${PATH}/reset`} label="Set it back to the system's time" />
          <p class="hint">Records keep the times that they have; what lies ahead then waits until its time comes.</p>
        </>
      )}
    </section>
  );
}

function reportForm(visit: PortalVisit) {
  const used = { inputmode: "numeric", hint: "Needed with usage; may be left out with the others." } as const;
  return formShown(visit, {
    ...{ title: "Report on an eSIM", to: `${PATH}/report`, submit: "Report it" },
    intro: "As its supplier's report on a real eSIM: the same states and the same events, at the time of this clock.",
    fields: [
      { name: "iccid", label: "ICCID", value: field(visit.query, "iccid"), required: true },
      { name: "event", label: "What happened", options: sandboxEsimEvents },
      { name: "used_mb", label: "Megabytes used in all", ...used },
    ],
  });
}

/** The partner whose sandbox it is. Throws `sandbox_only`. */
function sandboxOf({ owner: { partnerId, environment } }: PortalVisit) {
  if (environment === "sandbox") return { partnerId, environment };
  throw new Problem("sandbox_only", "This works in the sandbox only; you are in the production environment.");
}

/** "7d" and "36h" as people write them, in ISO 8601; anything else as it is. */
function durationOf(typed: string): string {
  const [, count, unit] = /^(\d{1,6})\s*([hd])$/i.exec(typed) ?? [];
  if (count === undefined) return typed.toUpperCase();
  return unit?.toLowerCase() === "d" ? `P${count}D` : `PT${count}H`;
}

async function moveClock(visit: PortalVisit, advance: string): Promise<Shown> {
  const { partnerId } = sandboxOf(visit);
  const clock = await visit.write(advanceClock, { partnerId, advance });
  return { to: PATH, notice: `The clock shows ${timeWords(clock.now, visit.zone)} now.` };
}

async function advanceTo(visit: PortalVisit): Promise<Shown> {
  const { partnerId } = sandboxOf(visit);
  const to = momentField(visit, "to");
  const { now } = await visit.store.read(sandboxClock, partnerId);
  const ms = to - Date.parse(now);
  try {
    return await moveClock(visit, `${ms < 0 ? "-" : ""}PT${Math.abs(ms) / 1_000}S`);
  } catch (error) {
    if (!(error instanceof Problem) || error.errors?.advance === undefined) throw error;
    throw invalid({ to: error.errors.advance });
  }
}

async function reset(visit: PortalVisit): Promise<Shown> {
  await visit.write(resetClock, { partnerId: sandboxOf(visit).partnerId });
  return { to: PATH, notice: "The clock shows the system's time again." };
}

/** Throws `validation` at the field in place of what says that an eSIM is another's, or none. */
function namingIccid(error: unknown): never {
  const unknown = ["esim_forbidden", "invalid_iccid", "not_found"];
  const isUnknown = error instanceof Problem && unknown.includes(error.slug);
  throw isUnknown ? invalid({ iccid: ["is no eSIM of your sandbox"] }) : error;
}

async function report(visit: PortalVisit): Promise<Shown> {
  const { form } = visit;
  const iccid = plainDigits(requiredField(form, "iccid"));
  const event = choiceField(form, "event", sandboxEsimEvents);
  const usedMb = field(form, "used_mb") === "" ? null : integerField(form, "used_mb");
  if (usedMb !== null && (usedMb < 0 || usedMb > MOST_MB)) {
    throw invalid({ used_mb: [`must be between 0 and ${MOST_MB}`] });
  }
  const asked = { ...sandboxOf(visit), iccid, event, usedMb };
  const { status, data_usage } = await visit.write(reportSandboxEsim, asked).catch(namingIccid);
  const [used, total] = [data_usage.used_mb, data_usage.total_mb].map((mb) => mb.toLocaleString("en"));
  return { to: `${PATH}?iccid=${iccid}`, notice: `eSIM ${iccid} is ${status}, ${used} of ${total} MB used.` };
}

const write = { needs: "developers.write", again: sandboxPage } as const;

export const sandboxPages = [
  portalPage({ path: PATH, needs: "developers.read", show: sandboxPage }),
  portalPage({
    path: `${PATH}/advance`,
    ...write,
    act: (visit) => moveClock(visit, durationOf(requiredField(visit.form, "advance"))),
  }),
  portalPage({ path: `${PATH}/advance-to`, ...write, act: advanceTo }),
  portalPage({ path: `${PATH}/reset`, ...write, act: reset }),
  portalPage({ path: `${PATH}/report`, ...write, act: report }),
];
