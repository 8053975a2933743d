/** The message of the line for each request that was responded to. Apart from the logger, which loads its library. */
export const REQUEST = "request";

/** A message that the logger drops: for libraries that log what the daemon logs itself. */
export const NOT_LOGGED = "";

/** How much is logged: this level and those after it. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
