/** Shows how far what a form asks for is, and then what it came to, as if it had been sent without a script. */
export function followProgress(enhance: () => void): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-progress]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void sent(form, event.submitter, enhance).catch(() =>
        say(form, "The connection was lost. Look whether it was done."),
      );
    });
  }
}

/** A line of the answer. */
type Line =
  | { waits: true }
  | { done: number; total: number }
  | { to: string; notice: string | null }
  | { html: string };

async function sent(form: HTMLFormElement, submitter: HTMLElement | null, enhance: () => void): Promise<void> {
  const given = new FormData(form, submitter);
  const body = form.enctype === "multipart/form-data" ? given : new URLSearchParams(given as never);
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "How far it is");
  form.append(bar);
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  // Not `form.action`: a field may have this name.
  const address = form.getAttribute("action") ?? location.href;
  const response = await fetch(address, { method: "POST", body, headers: { accept: "application/x-ndjson" } });
  if (response.headers.get("content-type") !== "application/x-ndjson") {
    return show(await response.text(), { at: response.url, enhance });
  }
  for await (const line of linesOf(response)) {
    if ("html" in line) return show(line.html, { at: address, enhance });
    if ("to" in line) {
      const page = await fetch(line.to);
      return show(await page.text(), { at: page.url, notice: line.notice, enhance });
    }
    if ("waits" in line) continue;
    bar.max = line.total;
    bar.value = line.done;
  }
  throw new Error("the answer has no end");
}

async function* linesOf({ body }: Response): AsyncGenerator<Line> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = `${rest}${value}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

interface Showing {
  at: string;
  notice?: string | null;
  enhance: () => void;
}

/** Puts another page in the place of this one. */
function show(html: string, { at, notice, enhance }: Showing): void {
  const page = new DOMParser().parseFromString(html, "text/html");
  document.title = page.title;
  document.body.replaceChildren(...page.body.childNodes);
  history.replaceState(null, "", at);
  const main = document.querySelector<HTMLElement>("main");
  if (notice) {
    const words = document.createElement("p");
    words.className = "alert good";
    words.setAttribute("role", "status");
    words.textContent = notice;
    main?.prepend(words);
  }
  main?.focus();
  scrollTo(0, 0);
  enhance();
}

function say(form: HTMLFormElement, words: string): void {
  const said = document.createElement("p");
  said.className = "alert bad";
  said.setAttribute("role", "alert");
  said.textContent = words;
  form.querySelector("progress")?.replaceWith(said);
}
