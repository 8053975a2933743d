import { isLoopbackHost } from "../../core/kernel/http-url.ts";
import type { SupplyOutcome } from "../../core/supplier-requests/outcome.ts";

/** One mail to a supplier. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The message ID: the same at every attempt. */
  reference: string;
}

/** Sends mail by SMTP. */
export interface Mailer {
  /** `accepted` once the server took it; a fault otherwise. Never throws. */
  send(mail: Mail): Promise<SupplyOutcome>;
  close(): void;
}

const TIMEOUT_MS = 20_000;

/** Connections to the mail server. More mails at a time would only wait for one, and perhaps outlast their leases. */
export const MAILS_AT_ONCE = 5;

/**
 * Mail through `smtpUrl` (smtp://user:password@host:587?from=…); without one every mail is a fault that says so. Beyond
 * this machine nothing is sent without TLS and a certificate that verifies, unless `insecure`.
 */
export function createMailer(smtpUrl: string | undefined, { insecure = false } = {}): Mailer {
  if (smtpUrl === undefined) {
    return {
      send: async () => ({ kind: "temporary", reason: "no SMTP server is set (serve --smtp-url)" }),
      close: () => undefined,
    };
  }
  const { from, domain, connection } = readSmtpUrl(smtpUrl, insecure);
  // Loaded when the first mail goes out: most installations send none.
  const transport = import("nodemailer").then(({ createTransport }) =>
    createTransport({
      url: connection,
      pool: true,
      maxConnections: MAILS_AT_ONCE,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
    }),
  );
  return {
    async send({ to, subject, text, reference }) {
      try {
        const smtp = await transport;
        await smtp.sendMail({ from, to, subject, text, messageId: `<${reference}@${domain}>` });
        return { kind: "accepted" };
      } catch (error) {
        return faultOf(error);
      }
    },
    close: () => void transport.then((smtp) => smtp.close()),
  };
}

/** The sender (`?from=`, else esimctl@<host>), its domain, and the address to connect to. */
function readSmtpUrl(smtpUrl: string, insecure: boolean): { from: string; domain: string; connection: string } {
  const url = new URL(smtpUrl);
  const from = url.searchParams.get("from") ?? `esimctl@${url.hostname}`;
  url.searchParams.delete("from");
  if (!insecure && !isLoopbackHost(url.hostname)) {
    // In the address, whose own words about TLS would otherwise hold.
    url.searchParams.set("requireTLS", "true");
    url.searchParams.set("tls.rejectUnauthorized", "true");
  }
  return { from, domain: from.replace(/^.*@/, "").replace(/>$/, ""), connection: url.toString() };
}

const NO_TLS = "the mail server offers no TLS (serve --insecure would do without)";

function reasonOf(status: unknown): string {
  return typeof status === "number" ? `the mail server answered ${status}` : "the mail server could not be reached";
}

/** A 5xx for the recipient will not change by itself, but the operator can fix it: it too is retried. */
function faultOf(error: unknown): SupplyOutcome {
  const [status, code]: unknown[] =
    error instanceof Error ? [Reflect.get(error, "responseCode"), Reflect.get(error, "code")] : [];
  return { kind: "temporary", reason: code === "ETLS" ? NO_TLS : reasonOf(status) };
}
