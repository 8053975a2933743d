import type { Provider } from "./provider.ts";

/** What reading a notice comes to. */
export type NoticeRead = ReturnType<Provider["readNotice"]>;

/** The JSON of a notice; undefined: it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
