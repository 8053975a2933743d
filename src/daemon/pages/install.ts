import { escapeHtml } from "./html.ts";

export interface InstallPage {
  productName: string;
  /** The whole LPA string. */
  code: string;
  /** Address of the QR image. */
  qr: string;
  smdp_address: string;
  matching_id: string;
  confirmation_code: string | null;
}

const STYLE = `
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
body { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.4rem; }
img { display: block; width: min(100%, 18rem); margin: 1rem auto; background: #fff; border-radius: 0.75rem; }
a.button { display: block; margin: 0.75rem 0; padding: 0.9rem; border-radius: 0.75rem; background: #0b5cd6; color: #fff;
  font-weight: 600; text-align: center; text-decoration: none; }
dt { margin-top: 0.75rem; opacity: 0.75; font-size: 0.9rem; }
dd { margin: 0; font-family: ui-monospace, monospace; overflow-wrap: anywhere; user-select: all; }
`;

/** The page a traveller installs an eSIM from: one tap on the phone, a QR code on another screen, codes by hand. */
export function installPage(page: InstallPage): string {
  const data = encodeURIComponent(page.code);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Install your eSIM</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Install your eSIM</h1>
<p>${escapeHtml(page.productName)}</p>
<a class="button" href="https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=${data}">Install on iPhone or iPad</a>
<a class="button" href="https://esimsetup.android.com/esim_qrcode_provisioning?carddata=${data}">Install on Android</a>
<p>Or scan this code with the phone, under “Add eSIM” in its mobile network settings:</p>
<img src="${escapeHtml(page.qr)}" alt="QR code of the eSIM" width="288" height="288">
<p>Or type the codes by hand:</p>
<dl>
<dt>SM-DP+ address</dt><dd>${escapeHtml(page.smdp_address)}</dd>
<dt>Activation code</dt><dd>${escapeHtml(page.matching_id)}</dd>
${page.confirmation_code === null ? "" : `<dt>Confirmation code</dt><dd>${escapeHtml(page.confirmation_code)}</dd>`}
<dt>Whole code</dt><dd>${escapeHtml(page.code)}</dd>
</dl>
</main>
</body>
</html>
`;
}
