import { isLoopbackHost } from "../../core/kernel/http-url.ts";

/** One mail. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The message ID: the same at every attempt. */
  reference: string;
}

/** Why a mail did not get away. */
export interface MailFault {
  kind: "temporary";
  reason: string;
  /** Whether the server refused the recipient or the mail itself: that changes only if its people change it. */
  final: boolean;
}

/** Sends mail by SMTP. */
export interface Mailer {
  /** `accepted` once the server took it; a fault otherwise. Never throws. */
  send(mail: Mail): Promise<{ kind: "accepted" } | MailFault>;
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
      send: async () => ({ kind: "temporary", reason: "no SMTP server is set (serve --smtp-url)", final: false }),
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

/** A 5xx for the recipient will not change by itself, but the operator can fix it: for some mails it too is retried. */
function faultOf(error: unknown): MailFault {
  const [status, code, command]: unknown[] =
    error instanceof Error ? ["responseCode", "code", "command"].map((name) => Reflect.get(error, name)) : [];
  const isRefused = typeof status === "number" && status >= 500 && (command === "RCPT TO" || command === "DATA");
  return { kind: "temporary", reason: code === "ETLS" ? NO_TLS : reasonOf(status), final: isRefused };
}
