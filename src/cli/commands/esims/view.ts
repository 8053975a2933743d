import { argument } from "../../kernel/input.ts";

/** An eSIM, by any identifier. */
export const esimArgument = argument("iccid", "the eSIM's ICCID or id, or what names an order with one eSIM");
