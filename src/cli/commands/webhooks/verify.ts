import { command } from "../../frame/command.ts";
import { exitCodes } from "../../kernel/exit-codes.ts";
import { required, text } from "../../kernel/input.ts";
import { readBounded } from "../../kernel/read-bounded.ts";
import { readSecretArgument } from "../../output/prompts.ts";
import { recordResult } from "../../output/result.ts";

export default command({
  target: "process",
  effects:
    "Reads the body's file only. Says which part is wrong: header, signature or time. Exit code 1 unless all is right.",
  json: "{valid, header, signature, timestamp, age_seconds, hint}",
  examples: ["webhooks verify --body body.json --header t=1772413200,v1=0a1b… --secret -"],
  args: {},
  options: {
    body: required(text("--body <file>", "the raw body, byte for byte as it came")),
    header: required(text("--header <text>", "the value of X-Webhook-Signature")),
    secret: required(text("--secret <secret>", "the signing secret; - reads it from standard input or asks"), "secret"),
  },
  async run(context, { body, header, secret }) {
    const [{ diagnose }, { systemClock }] = await Promise.all([
      import("../../../core/webhooks/diagnose.ts"),
      import("../../../core/kernel/clock.ts"),
    ]);
    const key = await readSecretArgument(secret, "Signing secret", context.globals);
    const delivery = { body: await readBounded(body, 8, "Give the body of one delivery."), header, secret: key };
    const found = diagnose(delivery, systemClock.now());
    const age = found.age_seconds === null ? "" : ` (signed ${found.age_seconds} s ago)`;
    const result = recordResult(
      found,
      ({ paint }) => ({
        header: found.header,
        signature: found.signature,
        timestamp: found.timestamp + age,
        verdict: found.valid ? paint.green("valid") : paint.red("not valid"),
      }),
      found.hint ?? undefined,
    );
    return { ...result, exitCode: found.valid ? exitCodes.done : exitCodes.failed };
  },
});
