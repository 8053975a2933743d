import type { Logger } from "pino";
import { describeError } from "../../daemon/log/logger.ts";
import { exitCodes } from "../kernel/exit-codes.ts";

/**
 * An error that nothing caught, in whatever thread, is logged as any other one is, and ends the process: what state it
 * left behind is unknown. Node itself would print all of the error, with the parameters of a query among it.
 */
export function endOnCrash(log: Logger): void {
  process.once("uncaughtException", (error: unknown) => {
    log.fatal({ event: "crashed", err: error }, "an unexpected error ends the process");
    const { type = "Error", message } = describeError(error);
    process.stderr.write(`error: an unexpected error ends the process: ${type}: ${message}\n`);
    process.exit(exitCodes.failed);
  });
}
