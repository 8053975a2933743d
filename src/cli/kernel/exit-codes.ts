/** The exit codes of the process; the same for every command. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  someFailed: 3,
  notAuthorized: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each code means, in the words that help shows. */
export const exitCodeWords: Readonly<Record<ExitCode, string>> = {
  0: "done",
  1: "failed, or not confirmed",
  2: "wrong usage",
  3: "some items failed, the rest is done",
  4: "not authorized",
  130: "interrupted",
};
