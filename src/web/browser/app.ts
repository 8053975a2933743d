import { startAuthentication, startRegistration } from "@simplewebauthn/browser";
import { followProgress } from "./progress.ts";

// What the pages do better with a script; every page and act works without it.

/** The server writes times in this zone. */
function sayZone(): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers
  document.cookie = `esimctl-zone=${zone};path=/;max-age=31536000;samesite=lax`;
}

/** Shows a list again as its filters change, without loading the page; the address can be sent to a colleague. */
function filterInPlace(): void {
  document.addEventListener("input", (event) => {
    const form = (event.target as HTMLElement).closest<HTMLFormElement>("form[data-filters]");
    if (form === null) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => void refreshList(form), 300);
  });
}

let waiting: ReturnType<typeof setTimeout> | undefined;

/** The list that was asked for last. */
let latest = "";

async function refreshList(form: HTMLFormElement): Promise<void> {
  const list = form.closest("[data-live-list]");
  const given = [...new FormData(form)].filter(([, value]) => value !== "") as [string, string][];
  // Not `form.action`: a filter may have this name.
  const address = `${form.getAttribute("action")}?${new URLSearchParams(given)}`;
  latest = address;
  const response = await fetch(address, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  // More was typed meanwhile.
  if (latest !== address) return;
  // One that refuses a filter, as of a word that is not typed to its end, says so.
  const fresh = page.querySelector("[data-live-list]");
  if (list === null || fresh === null || response.redirected) return location.assign(address);
  // The bar of filters stays, with what is typed into it.
  for (const node of [...list.children]) if (node !== form) node.remove();
  for (const node of [...fresh.children]) if (!node.matches("[data-filters]")) list.append(node);
  history.replaceState(null, "", address);
}

/** Keeps what a page names as live up to date, as the server says that something has changed. */
function watchLive(): void {
  const live = document.querySelector<HTMLElement>("[data-live]");
  const address = live?.dataset.live;
  if (!live || !address) return;
  const source = new EventSource(address);
  source.addEventListener("changed", () => void refreshLive(live));
}

async function refreshLive(live: HTMLElement): Promise<void> {
  const response = await fetch(location.href);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.querySelector("[data-live]");
  if (fresh !== null && !live.contains(document.activeElement)) live.replaceChildren(...fresh.children);
}

/** Shows a quote as the form of an order is filled in. */
function quoteLive(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-quote]");
  const output = form?.querySelector<HTMLElement>("[data-quote-result]");
  const address = form?.dataset.quote;
  if (!form || !output || !address) return;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const response = await fetch(address, { method: "POST", body: new URLSearchParams(new FormData(form) as never) });
      if (response.redirected) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      output.replaceChildren(...(page.querySelector("[data-quote-result]")?.childNodes ?? []));
    }, 250);
  });
}

/** A button that copies the text before it. */
function offerCopies(): void {
  for (const text of document.querySelectorAll<HTMLElement>("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent ?? "");
      button.textContent = "Copied";
    });
    text.after(button);
  }
}

/** Chooses all rows of a list. */
function offerAll(): void {
  for (const table of document.querySelectorAll("table")) {
    const boxes = [...table.querySelectorAll<HTMLInputElement>("tbody input[type=checkbox]")];
    const head = table.querySelector("thead th");
    if (boxes.length === 0 || head === null) continue;
    const all = document.createElement("input");
    all.type = "checkbox";
    all.setAttribute("aria-label", "Choose all rows");
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked;
    });
    head.append(all);
  }
}

/** What a device makes or signs, asked for by the server and sent with the button's form. */
function usePasskeys(): void {
  if (!("PublicKeyCredential" in window)) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-passkey], [data-new-passkey]")) {
    button.hidden = false;
    button.addEventListener("click", () => void answerPasskey(button).catch(() => sayFailed(button)));
  }
}

async function answerPasskey(button: HTMLButtonElement): Promise<void> {
  const { form } = button;
  if (form === null) return;
  const { passkey, newPasskey } = button.dataset;
  const csrf = form.querySelector<HTMLInputElement>("[name=_csrf]")?.value ?? "";
  const address = passkey ?? newPasskey ?? "";
  const response = await fetch(address, { method: "POST", body: new URLSearchParams({ _csrf: csrf }) });
  const optionsJSON = await response.json();
  const made =
    passkey === undefined ? await startRegistration({ optionsJSON }) : await startAuthentication({ optionsJSON });
  const field = form.elements.namedItem(passkey === undefined ? "attestation" : "passkey") as HTMLInputElement;
  field.value = JSON.stringify(made);
  for (const input of form.querySelectorAll<HTMLInputElement>("[required]")) input.required = false;
  form.submit();
}

function sayFailed(button: HTMLButtonElement): void {
  button.textContent = "The passkey did not work: try again";
}

/** What belongs to the elements of a page. */
function enhance(): void {
  watchLive();
  quoteLive();
  offerCopies();
  offerAll();
  usePasskeys();
  followProgress(enhance);
}

sayZone();
filterInPlace();
enhance();
