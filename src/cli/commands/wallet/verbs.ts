import { balance } from "./balance.ts";
import { check } from "./check.ts";
import { credit } from "./credit.ts";
import { debit } from "./debit.ts";
import { ledger } from "./ledger.ts";

/** The verbs of `wallet`, in the order of its help. */
export const verbs = [balance, credit, debit, ledger, check];
