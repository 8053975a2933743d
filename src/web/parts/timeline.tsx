import type { Moment } from "../../core/find/stories.ts";
import { isoTime } from "../../core/kernel/clock.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { Visit } from "../session/visit.ts";
import { Time } from "./cell.tsx";

/** One thing that happened to a record. */
export interface TimelineMoment {
  at: string;
  /** What kind of thing: order, money, webhook, audit, … */
  kind: string;
  text: string;
}

/** The moments of a record that are known, in the order in which they are given. */
export function momentsIn(
  kind: string,
  known: readonly (readonly [at: string | null, text: string])[],
): TimelineMoment[] {
  return known.flatMap(([at, text]) => (at === null ? [] : [{ at, kind, text }]));
}

/** What core lists of a record, as a timeline shows it. */
export function shownMoments(moments: readonly Pick<Moment, "at" | "kind" | "text">[]): TimelineMoment[] {
  return moments.map(({ at, kind, text }) => ({ at: isoTime(at), kind, text }));
}

/** What happened to a record, oldest first. */
export function Timeline({ visit, moments }: { visit: Visit; moments: readonly TimelineMoment[] }) {
  if (moments.length === 0) return null;
  return (
    <section>
      <h2>History</h2>
      <ol class="timeline">
        {moments.map(({ at, kind, text }) => (
          <li>
            <Time at={at} zone={visit.zone} /> <span class="hint">{kind}</span> {withoutHidden(text)}
          </li>
        ))}
      </ol>
    </section>
  );
}
