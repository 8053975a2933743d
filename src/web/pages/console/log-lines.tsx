import { hostname } from "node:os";
import type { LogRecord } from "../../../daemon/log/filter.ts";
import { LogError, lastRecords } from "../../../daemon/log/read.ts";
import { recordWords } from "../../../daemon/log/record-words.ts";
import type { Column } from "../../parts/list.tsx";
import { backLink, pageShown, table } from "../../parts/shown.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, requiredField, type Shown } from "../../session/visit.ts";

const MOST_LINES = 200;

const columns: readonly Column<LogRecord>[] = [
  { title: "When", cell: ({ time }) => (typeof time === "string" ? { time } : null) },
  { title: "Level", cell: ({ level }) => String(level ?? "") },
  { title: "Line", cell: (one) => [recordWords(one).text, recordWords(one).fault].filter(Boolean).join(" ") },
  { title: "More", cell: moreOf },
];

function moreOf(line: LogRecord): string {
  const others = recordWords(line).members.filter(([name]) => name !== "request_id");
  return others.map((member) => member.join("=")).join(" ");
}

/** The lines of the log of this node, or why there are none, in words. */
async function linesOf({ logFolder }: ConsoleVisit["context"], requestId: string): Promise<LogRecord[] | string> {
  if (logFolder === undefined) return "This node keeps no log.";
  try {
    return (await lastRecords(logFolder, { most: MOST_LINES, requestId })).records;
  } catch (error) {
    if (error instanceof LogError) return error.message;
    throw error;
  }
}

async function linesPage(visit: ConsoleVisit): Promise<Shown> {
  const requestId = requiredField(visit.query, "request_id");
  const lines = await linesOf(visit.context, requestId);
  const caption = "Lines of the log";
  const body = (
    <>
      {typeof lines === "string" ? (
        <p class="alert bad">{lines}</p>
      ) : (
        table(visit, { caption, rows: lines, empty: "What is kept of the log here has no line of it." }, columns)
      )}
      <p class="hint">
        These are lines of the log of {hostname()}, which answered this page: the last {MOST_LINES} at most, of all that
        is kept of it. Another node keeps its own: <code>esimctl logs tail --request {requestId}</code> there.
      </p>
      {backLink(visit, `/platform/logs?request_id=${encodeURIComponent(requestId)}`, "What the request changed")}
    </>
  );
  return pageShown(visit, `Log of ${requestId}`, body);
}

/** What the log of the node that answers has of a request. */
export const logLinePages = [consolePage({ path: "/platform/logs/lines", needs: "logs.read", show: linesPage })];
