import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { escapeHtml } from "../../core/kernel/html.ts";
import type { EsimStatus } from "../../core/store/schema/values.ts";
import { type InstallLanguage, type InstallWords, installWords } from "./install-words.ts";

/** What the page shows of an eSIM. */
export interface InstallPage {
  productName: string;
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
dl { margin: 0.75rem 0; }
dt { margin-top: 0.85rem; font-size: 0.88rem; opacity: 0.75; }
dd { margin: 0.15rem 0 0; padding: 0.55rem 0.75rem; border-radius: 0.5rem; background: var(--soft);
  font: 0.95rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; -webkit-user-select: all; user-select: all; }
footer { margin-top: 2.5rem; font-size: 0.8rem; opacity: 0.65; }
`;

/** The page a traveller installs an eSIM from: one tap on the phone, a QR code on another screen, codes by hand. */
export function installPage(page: InstallPage, language: InstallLanguage): string {
  const words: InstallWords = installWords[language];
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${escapeHtml(words.title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(words.title)}</h1>
<p class="plan">${escapeHtml(withoutHidden(page.productName))}</p>
${warning(page, words)}
<p>${escapeHtml(words.lead)}</p>
${buttons(page, words)}
<h2>${escapeHtml(words.scan)}</h2>
<p>${escapeHtml(words.scanHow)}</p>
<img class="qr" src="${escapeHtml(page.qr)}" alt="${escapeHtml(words.qrAlt)}" width="272" height="272">
<h2>${escapeHtml(words.type)}</h2>
<p>${escapeHtml(words.typeHow)}</p>
${codes(page, words)}
</main>
<footer>ICCID ${escapeHtml(page.iccid)}</footer>
</body>
</html>
`;
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
