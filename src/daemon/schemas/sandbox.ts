import { Type } from "typebox";
import { sandboxEsimEvents } from "../../core/store/schema/values.ts";
import { named, OneOf, Timestamp } from "./common.ts";

/** Body of POST /sandbox/clock. */
export const Advance = Type.Object(
  {
    advance: Type.String({
      minLength: 1,
      maxLength: 40,
      description: "An ISO 8601 duration: P7D, PT36H, P1M; months and years are UTC's",
      examples: ["P7D"],
    }),
  },
  named("SandboxAdvance"),
);

export const SandboxClock = Type.Object(
  {
    now: { ...Timestamp, description: "What the clock shows", examples: ["2026-03-08T09:30:00.000Z"] },
    system_time: { ...Timestamp, description: "The time without it" },
    ahead_ms: Type.Integer({
      minimum: 0,
      description: "How far it is ahead, in milliseconds",
      examples: [604_800_000],
    }),
    status: OneOf(["ready", "advancing"], { examples: ["ready"] }),
  },
  named("SandboxClock"),
);

/** Body of POST /sandbox/esims/{iccid}. */
export const SandboxEsimReport = Type.Object(
  {
    event: OneOf(sandboxEsimEvents, { examples: ["usage"] }),
    used_mb: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000_000,
        description: "Megabytes used in all; required with `usage`, allowed with the others",
        examples: [900],
      }),
    ),
  },
  named("SandboxEsimReport"),
);
