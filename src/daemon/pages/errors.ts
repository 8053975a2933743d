import { escapeHtml } from "../../core/kernel/html.ts";
import { type ProblemSlug, problems } from "../../core/kernel/problem.ts";
import { docsNavigation } from "./guides.ts";
import { page } from "./layout.ts";

const slugs = Object.keys(problems) as ProblemSlug[]; // its keys are the slugs

/** Whether `text` names a type of problem. */
export function isProblemSlug(text: string): text is ProblemSlug {
  return slugs.some((slug) => slug === text);
}

/** All types of problem, with links to their pages under `base`. */
export function errorIndexPage(base: string): string {
  const rows = slugs
    .toSorted((a, b) => problems[a].status - problems[b].status)
    .map((slug) => {
      const { status, title } = problems[slug];
      const link = `<a href="${escapeHtml(`${base}/errors/${slug}`)}"><code>${escapeHtml(slug)}</code></a>`;
      return `<tr><td>${status}</td><td>${link}</td><td>${escapeHtml(title)}</td></tr>`;
    });
  return page(
    "Errors",
    `<h1>Errors</h1>
<p>Every refusal is a problem body (RFC 7807). Its <code>type</code> is the address of one of these pages.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Type</th><th scope="col">Title</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
${docsNavigation(base)}`,
  );
}

/** One type of problem: when it comes, what to do, and what it looks like. */
export function errorPage(slug: ProblemSlug, sample: object, base: string): string {
  const { status, title, hint } = problems[slug];
  return page(
    `${title} (${slug})`,
    `<h1>${escapeHtml(title)}</h1>
<p>Type <code>${escapeHtml(slug)}</code>, HTTP status ${status}.</p>
<h2>What to do</h2>
<p>${escapeHtml(hint)}</p>
<h2>What it looks like</h2>
<pre><code>${escapeHtml(JSON.stringify(sample, null, 2))}</code></pre>
<p>Quote the <code>requestId</code> when you ask for help.</p>
${docsNavigation(base)}`,
  );
}
