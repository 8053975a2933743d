/** The transactionId was used already: what it ordered exists. Only third parties name this code. */
export const USED_ALREADY = "310402";
/** What was ordered is being allocated; it comes as a failure and is none. */
export const ALLOCATING = "200010";
/** An order or an eSIM that is not there, or not yet. */
export const NOT_SHOWN: readonly string[] = [ALLOCATING, "310272", "310403"];
/** A wrong or abnormal order: what became of it is left open, so people look. */
export const FOR_REVIEW: readonly string[] = ["200008", "200009"];
/** Not allowed in the eSIM's state. */
export const WRONG_STATE = "200002";
/** This machine's time is too far from the provider's. */
const WRONG_TIME = "101001";

const ofAccount = ["000101", "000102", "000103", "000104", WRONG_TIME, "101002", "101003", "200007"];
const ofRequest = ["000105", "000106", "000107", WRONG_STATE, "200005", "200006", "200011"];
const ofPlan = ["310201", "310211", "310221", "310231", "310241", "310243", "310251"];

const words: Readonly<Record<string, string>> = {
  [WRONG_TIME]: "It refuses the request's time: set this machine's clock.",
  "101002": "It blocks this machine's address.",
  "101003": "The signature does not match: set the secret again.",
  [WRONG_STATE]: "It does not allow that in the eSIM's state.",
  "200005": "The price is another one now: sync its catalog.",
  "200006": "The total is another one now: sync its catalog.",
  "200007": "The balance is too small.",
  "200011": "It has too few profiles for the plan.",
};

/** The definite refusal that a code is; null: it is none, or not known to be one. */
export function refusalOf(code: string): { code: string; message: string; because: "plan" | "account" } | null {
  const because = ofAccount.includes(code) ? "account" : "plan";
  if (because === "plan" && ![...ofRequest, ...ofPlan].includes(code)) return null;
  const other = ofPlan.includes(code) ? "It does not know the plan." : "It does not accept the request's form.";
  return { code, message: words[code] ?? other, because };
}
