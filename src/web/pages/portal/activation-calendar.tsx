import { sydneyToday } from "../../../core/activations/calendar.ts";
import { activationsByDay, type DayOfActivations } from "../../../core/activations/list.ts";
import { isCivilDate, laterBy } from "../../../core/kernel/calendar-day.ts";
import { counted } from "../../../core/kernel/counted.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { pageShown } from "../../parts/shown.tsx";
import { portalPage } from "../../session/page.ts";
import { optionalField, type PortalVisit, type Shown } from "../../session/visit.ts";

const WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;
const PATH = "/activations/calendar";

/** The days of a month (YYYY-MM), in weeks from Monday on; null: a day of another month. */
function weeksOf(month: string): (string | null)[][] {
  const first = `${month}-01`;
  const before = (new Date(`${first}T00:00:00Z`).getUTCDay() + 6) % 7;
  const days: (string | null)[] = Array.from({ length: before }, () => null);
  for (let day = first; day.startsWith(month); day = laterBy(day, 1)) days.push(day);
  while (days.length % 7 !== 0) days.push(null);
  return Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
}

function monthWords(month: string): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  return at.toLocaleDateString("en", { month: "long", year: "numeric", timeZone: "UTC" });
}

async function calendarPage(visit: PortalVisit): Promise<Shown> {
  const { store, owner, base, query, context } = visit;
  const today = sydneyToday(context.clock.now());
  const month = optionalField(query, "month") ?? today.slice(0, 7);
  if (!isCivilDate(`${month}-01`)) throw invalid({ month: ["must be a month as YYYY-MM"] });
  const counts = await store.list(activationsByDay, { ...owner, from: `${month}-01`, to: `${month}-31` });
  const byDay = new Map(counts.map((one) => [one.date, one]));
  // No month is before that of the year 0, nor after that of 9999.
  const near = [laterBy(`${month}-01`, -1), laterBy(`${month}-28`, 4)]
    .filter(isCivilDate)
    .map((day) => day.slice(0, 7));
  const total = counts.reduce((sum, { requests }) => sum + requests, 0);
  return pageShown(visit, `Activations in ${monthWords(month)}`, [
    <nav class="pages" aria-label="Months">
      {near.map((other) => (
        <a href={`${base}${PATH}?month=${other}`}>{monthWords(other)}</a>
      ))}
      <a href={`${base}/activations`}>As a list</a>
    </nav>,
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached
    <section class="scroll" aria-label="Calendar" tabIndex={0}>
      <table class="calendar">
        <caption class="visually-hidden">Requests by activation date</caption>
        <thead>
          <tr>
            {WEEK.map((day) => (
              <th scope="col">{day}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr>
              {week.map((date) => (
                <td>{date !== null && dayShown({ base, date, today, on: byDay.get(date) })}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>,
    <p class="hint">{counted(total, "request")}. The days are those of Sydney, which decide when a SIM goes live.</p>,
  ]);
}

interface DayProps {
  base: string;
  date: string;
  today: string;
  on: DayOfActivations | undefined;
}

function dayShown({ base, date, today, on }: DayProps) {
  const words = on === undefined ? "" : counted(on.requests, "request");
  const list = `${base}/activations?activation_from=${date}&activation_to=${date}`;
  return (
    <>
      <time dateTime={date}>{Number(date.slice(8))}</time>
      {date === today && " today"}
      {on !== undefined && (
        <>
          <br />
          <a href={list} aria-label={`${words} on ${date}`}>
            {words}
          </a>
          {on.pending > 0 && <span class="hint"> {on.pending} pending</span>}
        </>
      )}
    </>
  );
}

export const activationCalendarPages = [portalPage({ path: PATH, needs: "activations.read", show: calendarPage })];
