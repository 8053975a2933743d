import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { onTestFinished } from "vitest";

/** A mail as it came. */
interface Mail {
  to: string[];
  text: string;
}

/** A real SMTP server on loopback that keeps what it gets; `refuse` makes it answer 451, or the code that it is. */
export async function smtpServer() {
  const mails: Mail[] = [];
  const state: { refuse: boolean | number } = { refuse: false };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (state.refuse !== false) {
          const responseCode = state.refuse === true ? 451 : state.refuse;
          return done(Object.assign(new Error("greylisted"), { responseCode }));
        }
        const to = session.envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.server.address() as AddressInfo; // it listens on a port
  return { mails, state, url: `smtp://127.0.0.1:${address.port}?from=platform@esim.test` };
}
