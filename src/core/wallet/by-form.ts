import { firstTime } from "../accounts/form-keys.ts";
import type { UserId } from "../kernel/brand.ts";
import type { Tx } from "../store/store.ts";
import { creditWallet, debitWallet, type Funded, type Funding } from "./fund.ts";
import {
  type CreditedFunding,
  creditFunding,
  type FundingCredit,
  type FundingRequest,
  requestFunding,
} from "./funding.ts";

/** A form that moves money: its own key, by which it acts once however often it is sent. */
interface ByForm {
  key: string;
  userId: UserId;
}

/** Announces money as `requestFunding` does; null: this form did so before. Throws what that one throws. */
export async function requestFundingByForm(
  tx: Tx,
  { key, userId, ...input }: Parameters<typeof requestFunding>[1] & ByForm,
): Promise<FundingRequest | null> {
  return (await firstTime(tx, { key, userId })) ? requestFunding(tx, input) : null;
}

/** Credits an announced payment as `creditFunding` does; null: this form did so before. Throws what that one throws. */
export async function creditFundingByForm(
  tx: Tx,
  { key, userId, ...input }: FundingCredit & ByForm,
): Promise<CreditedFunding | null> {
  return (await firstTime(tx, { key, userId })) ? creditFunding(tx, input) : null;
}

/** Credits or debits a wallet; null: this form did so before. Throws what those throw. */
export async function moveByForm(
  tx: Tx,
  { key, userId, kind, ...input }: Funding & ByForm & { kind: "credit" | "debit" },
): Promise<Funded | null> {
  if (!(await firstTime(tx, { key, userId }))) return null;
  return kind === "credit" ? creditWallet(tx, input) : debitWallet(tx, input);
}
