import { type HTMLElement, parse } from "node-html-parser";

/** A page as a browser without scripts has it. */
export interface Seen {
  status: number;
  /** Where it was redirected to at last, as path and query. */
  path: string;
  html: string;
  headers: Headers;
  page: HTMLElement;
  /** The words of the page's main part, blanks folded. */
  text: string;
}

/** What is typed into a form; a list is sent as a field that is there more than once. */
export type Typed = Readonly<Record<string, string | readonly string[] | Blob>>;

/** A person with a browser of their own: cookies and forms, no scripts. */
export function visitor(url: string, more: Record<string, string> = {}) {
  const cookies = new Map<string, string>();

  async function request(path: string, init: RequestInit = {}): Promise<Seen> {
    for (let at = new URL(path, url), asked = init; ; ) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = { ...more, ...(cookie === "" ? {} : { cookie }), ...(asked.headers as Record<string, string>) };
      const response = await fetch(at, { ...asked, headers, redirect: "manual" });
      for (const line of response.headers.getSetCookie()) keep(line);
      const to = response.headers.get("location");
      if (to !== null && response.status < 400) {
        at = new URL(to, at);
        asked = {};
        await response.arrayBuffer();
        continue;
      }
      return seen(response.status, `${at.pathname}${at.search}`, await response.text(), response.headers);
    }
  }

  function keep(line: string): void {
    const [pair = ""] = line.split(";");
    const [name = "", ...value] = pair.split("=");
    if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) cookies.delete(name);
    else cookies.set(name, value.join("="));
  }

  function post(path: string, typed: Typed, headers: Record<string, string> = {}): Promise<Seen> {
    const hasFile = Object.values(typed).some((value) => value instanceof Blob);
    const body = hasFile ? new FormData() : new URLSearchParams();
    for (const [name, value] of Object.entries(typed)) {
      for (const one of [value].flat()) body.append(name, one as string);
    }
    return request(path, { method: "POST", body, headers });
  }

  return {
    cookies,
    post,
    get: (path: string, headers: Record<string, string> = {}) => request(path, { headers }),
    /** Fills in the form of a page that has these fields, or that goes to this path, and sends it. */
    send(on: Seen, typed: Typed, to?: string, headers: Record<string, string> = {}): Promise<Seen> {
      const form = formOf(on, Object.keys(typed), to);
      const action = form.getAttribute("action") ?? on.path;
      return post(action, { ...valuesOf(form), ...typed }, { origin: new URL(url).origin, ...headers });
    },
  };
}

export type Visitor = ReturnType<typeof visitor>;

function seen(status: number, path: string, html: string, headers: Headers): Seen {
  const page = parse(html);
  const main = page.querySelector("main") ?? page;
  return { status, path, html, headers, page, text: main.textContent.replace(/\s+/g, " ").trim() };
}

/** The form of a page that posts to a path ending so, or has all these fields. Throws where there is none. */
function formOf(on: Seen, fields: readonly string[], to?: string): HTMLElement {
  const forms = on.page.querySelectorAll("form").filter((form) => form.getAttribute("method") === "post");
  const found = forms.find((form) => {
    if (to !== undefined) return (form.getAttribute("action") ?? on.path).split("?")[0]?.endsWith(to);
    return fields.length > 0 && fields.every((name) => form.querySelector(`[name="${name}"]`) !== null);
  });
  if (found === undefined)
    throw new Error(`no form for ${to ?? fields.join(", ")} at ${on.path} (${on.status}): ${on.text}`);
  return found;
}

/** What a form sends as it is. */
function valuesOf(form: HTMLElement): Record<string, string> {
  const values: Record<string, string> = {};
  for (const input of form.querySelectorAll("input, textarea")) {
    const name = input.getAttribute("name");
    const type = input.getAttribute("type");
    if (name === undefined || ((type === "checkbox" || type === "radio") && !input.hasAttribute("checked"))) continue;
    if (type === "file") continue;
    values[name] = input.getAttribute("value") ?? input.textContent;
  }
  for (const select of form.querySelectorAll("select")) {
    const name = select.getAttribute("name");
    const options = select.querySelectorAll("option");
    const chosen = options.find((option) => option.hasAttribute("selected")) ?? options[0];
    if (name !== undefined) values[name] = chosen?.getAttribute("value") ?? chosen?.textContent ?? "";
  }
  return values;
}

/** The hidden field that binds the forms of a page to its session. */
export function csrfOf(on: Seen): { _csrf: string } {
  return { _csrf: on.page.querySelector("input[name=_csrf]")?.getAttribute("value") ?? "" };
}
