import Negotiator from "negotiator";
import type { InstallLanguage } from "./install-words.ts";

// Browsers ask for zh-CN and zh; what we have is written for all who read simplified characters.
const offered: Readonly<Record<string, InstallLanguage>> = {
  en: "en",
  de: "de",
  fr: "fr",
  es: "es",
  ja: "ja",
  zh: "zh-Hans",
};

/** The language of the install page that suits a browser's Accept-Language best; English for all others. */
export function chooseLanguage(acceptLanguage: string | undefined): InstallLanguage {
  const headers = { "accept-language": acceptLanguage };
  const chosen = new Negotiator({ headers }).language(Object.keys(offered)) ?? "en";
  return offered[chosen] ?? "en";
}
