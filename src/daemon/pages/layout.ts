import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import { escapeHtml } from "../../core/kernel/html.ts";

const STYLE = `
:root { color-scheme: light dark; font: 17px/1.55 system-ui, sans-serif; }
body { max-width: 44rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
code, pre { font: 0.88em/1.5 ui-monospace, monospace; }
pre { padding: 0.9rem; overflow-x: auto; border: 1px solid #8885; border-radius: 0.5rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.45rem 0.6rem 0.45rem 0; border-bottom: 1px solid #8883; text-align: left; vertical-align: top; }
td { overflow-wrap: break-word; }
.scroll { overflow-x: auto; }
nav { margin: 0.5rem 0 1.5rem; font-size: 0.9rem; line-height: 1.9; }
nav a { white-space: nowrap; }
`;

/** A small page for people: `title` is text, `body` is HTML whose texts are escaped already. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(withoutHidden(title))}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
