import { dataWords } from "../../core/catalog/data-words.ts";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { escapeHtml } from "../../core/kernel/html.ts";
import type { EsimStatus } from "../../core/store/schema/values.ts";
import { type InstallLanguage, type InstallWords, installWords } from "./install-words.ts";

/** What the page shows of an eSIM. */
export interface InstallPage {
  productName: string;
  /** Who sold it, and how its customers reach them; null: not known. */
  seller: string | null;
  support: string | null;
  /** Facts of the plan; null: the product is not there any more. */
  plan: { dataMb: number; days: number; coverage: readonly string[] } | null;
  iccid: string;
  status: EsimStatus;
  /** A synthetic eSIM of the sandbox. */
  test: boolean;
  /** The whole LPA string. */
  code: string;
  /** Address of the QR image. */
  qr: string;
  smdp_address: string;
  matching_id: string;
  confirmation_code: string | null;
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; font: 17px/1.5 system-ui, sans-serif; }
body { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1.125rem 3rem; overflow-wrap: break-word; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.2; }
h2 { margin: 2.25rem 0 0.25rem; padding-top: 1.75rem; border-top: 1px solid var(--line); font-size: 1.15rem; }
p { margin: 0.5rem 0; }
.plan { margin-top: 0.25rem; font-weight: 600; opacity: 0.8; }
.hint { font-size: 0.88rem; opacity: 0.75; }
.warn { padding: 0.75rem 1rem; border-radius: 0.75rem; background: #a11d12; color: #fff; font-weight: 600; }
.button { display: block; margin: 0.75rem 0; padding: 0.95rem; border-radius: 0.9rem; background: #0a58ca; color: #fff;
  font-weight: 600; text-align: center; text-decoration: none; }
.button:focus-visible { outline: 3px solid #ffb703; outline-offset: 2px; }
.qr { display: block; width: min(100%, 17rem); height: auto; margin: 1rem auto;
  border-radius: 0.75rem; background: #fff; }
main { display: flex; flex-direction: column; }
/* A wide screen is not the phone that installs it: the code to scan comes first there. */
@media (min-width: 48rem) { .scan { order: -1; } .scan h2 { margin-top: 1rem; padding-top: 0; border-top: 0; }
  .tap { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1rem; } }
.facts dd { font: inherit; background: none; padding: 0; -webkit-user-select: auto; user-select: auto; }
.facts dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; }
.facts dt, .facts dd { margin: 0; }
dl { margin: 0.75rem 0; }
dt { margin-top: 0.85rem; font-size: 0.88rem; opacity: 0.75; }
dd { margin: 0.15rem 0 0; padding: 0.55rem 0.75rem; border-radius: 0.5rem; background: var(--soft);
  font: 0.95rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; -webkit-user-select: all; user-select: all; }
footer { margin-top: 2.5rem; font-size: 0.8rem; opacity: 0.65; }
`;

/** The page a traveler installs an eSIM from: one tap on the phone, a QR code on another screen, codes by hand. */
export function installPage(page: InstallPage, language: InstallLanguage): string {
  const words: InstallWords = installWords[language];
  const body = `<header>
<h1>${escapeHtml(words.title)}</h1>
<p class="plan">${escapeHtml(withoutHidden(page.productName))}</p>
${warning(page, words)}
<p>${escapeHtml(words.lead)}</p>
</header>
<main>
<section class="tap">
${buttons(page, words)}
</section>
<section class="scan">
<h2>${escapeHtml(words.scan)}</h2>
<p>${escapeHtml(words.scanHow)}</p>
<img class="qr" src="${escapeHtml(page.qr)}" alt="${escapeHtml(words.qrAlt)}" width="272" height="272">
</section>
<section>
<h2>${escapeHtml(words.type)}</h2>
<p>${escapeHtml(words.typeHow)}</p>
${codes(page, words)}
</section>
<section class="facts">
${facts(page, words, language)}
</section>
</main>
<footer>ICCID ${escapeHtml(page.iccid)}</footer>`;
  return document(words.title, language, body);
}

/** What keeps this eSIM from working, if anything does. */
function warning({ status, test }: InstallPage, words: InstallWords): string {
  const text = test
    ? words.test
    : status === "expired"
      ? words.expired
      : status === "suspended"
        ? words.suspended
        : null;
  return text === null ? "" : `<p class="warn">${escapeHtml(text)}</p>`;
}

/** The addresses by which iOS (17.4) and Android take an activation code over. */
function buttons({ code }: InstallPage, words: InstallWords): string {
  const link = (host: string) => `https://${host}/esim_qrcode_provisioning?carddata=${encodeURIComponent(code)}`;
  return `<a class="button" href="${link("esimsetup.apple.com")}">${escapeHtml(words.apple)}</a>
<a class="button" href="${link("esimsetup.android.com")}">${escapeHtml(words.android)}</a>
<p class="hint">${escapeHtml(words.otherwise)}</p>`;
}

function codes(page: InstallPage, words: InstallWords): string {
  const rows: [name: string, value: string | null][] = [
    [words.smdpAddress, page.smdp_address],
    [words.activationCode, page.matching_id],
    [words.confirmationCode, page.confirmation_code],
    [words.wholeCode, page.code],
  ];
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : [`<dt>${escapeHtml(name)}</dt><dd translate="no">${escapeHtml(value)}</dd>`],
  );
  return `<dl>\n${shown.join("\n")}\n</dl>`;
}

/** Countries that are named; a world plan has too many. */
const MOST_COUNTRIES = 6;

/** What was bought, and from whom. */
function facts({ plan, seller, support }: InstallPage, words: InstallWords, language: InstallLanguage): string {
  const rows: [name: string, value: string | null][] = [
    [words.seller, seller],
    [words.support, support],
    [words.data, plan === null || plan.dataMb === 0 ? null : dataWords(plan.dataMb)],
    [words.validity, plan === null ? null : daysIn(language, plan.days)],
    [words.coverage, plan === null || plan.coverage.length === 0 ? null : countriesIn(language, plan.coverage, words)],
  ];
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : [`<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(withoutHidden(value))}</dd>`],
  );
  return `<dl>\n${shown.join("\n")}\n</dl>`;
}

function daysIn(language: InstallLanguage, days: number): string {
  return new Intl.NumberFormat(language, { style: "unit", unit: "day", unitDisplay: "long" }).format(days);
}

function countriesIn(language: InstallLanguage, coverage: readonly string[], { more }: InstallWords): string {
  const names = new Intl.DisplayNames(language, { type: "region", fallback: "code" });
  // What is no country is kept by its own name.
  const named = coverage.map((code) => (/^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code));
  const rest = named.length - MOST_COUNTRIES;
  const first = named.slice(0, MOST_COUNTRIES).join(", ");
  return rest > 0 ? `${first} ${more.replace("{n}", String(rest))}` : first;
}

/** The page that a wrong or early link leads to. */
export function wrongLinkPage(language: InstallLanguage): string {
  const words = installWords[language];
  const body = `<main>\n<h1>${escapeHtml(words.wrongTitle)}</h1>\n<p>${escapeHtml(words.wrong)}</p>\n</main>`;
  return document(words.wrongTitle, language, body);
}

function document(title: string, language: InstallLanguage, body: string): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
}
