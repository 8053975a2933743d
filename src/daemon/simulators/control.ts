import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { ProviderAnswer, ProviderCallback, SimulatedProvider } from "./provider.ts";
import type { SentCallback } from "./send-callbacks.ts";
import type { SteeredCalls } from "./steered-calls.ts";
import { readSteering, STANDARD_DELAY_MS, simulatedCalls, simulatedOutcomes } from "./steering.ts";

/** What the calls at `/_simulate` work on. */
export interface Controlled {
  provider: SimulatedProvider;
  calls: SteeredCalls;
  send(callbacks: readonly ProviderCallback[]): Promise<SentCallback[]>;
  /** The clock, in ms. */
  now: number;
}

const phoneStates = ["installed", "enabled", "in_use", "used_up", "expired", "suspended", "deleted"] as const;

const phone = Compile(
  Type.Object(
    {
      iccid: Type.String({ minLength: 1, maxLength: 40 }),
      state: Type.Optional(Type.Union(phoneStates.map((one) => Type.Literal(one)))),
      used_mb: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
      repeat: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
);

const address = Compile(
  Type.Object({ url: Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()]) }, { additionalProperties: false }),
);

const STEERING =
  `Steering is {"on": ${simulatedCalls.join(" | ")}, "outcome": ${simulatedOutcomes.join(" | ")}, ` +
  `"count": 1 to 1000000, "delay_ms": 0 to 600000}; left out they are 1 and ${STANDARD_DELAY_MS}.`;
const PHONE =
  `A phone is {"iccid": "8943…", "state": ${phoneStates.join(" | ")}, "used_mb": 512, "repeat": true}; ` +
  "all but iccid may be left out.";
const ADDRESS = 'Callbacks are {"url": "http://127.0.0.1:8080/…"}, or null for none.';

/** Answers a call at `path` below `/_simulate`; it is a person's or a test's, and no part of the protocol. */
export async function answerControl(
  { provider, calls, send, now }: Controlled,
  { method, path, body }: { method: string; path: string; body: Buffer },
): Promise<ProviderAnswer> {
  switch (`${method} ${path}`) {
    case "GET ":
      return { status: 200, body: { ...calls.counts(), ...provider.state(), steered: calls.left() } };
    case "POST ": {
      const steered = readSteering(parsed(body));
      if (steered === null) return refused(400, STEERING);
      calls.steer(steered);
      return { status: 200, body: steered };
    }
    case "DELETE ":
      calls.reset();
      provider.reset();
      return { status: 200, body: { ...calls.counts(), ...provider.state(), steered: [] } };
    case "DELETE /steering":
      calls.release();
      return { status: 200, body: { ...calls.counts(), ...provider.state(), steered: [] } };
    case "POST /phone": {
      const played = parsed(body);
      if (!phone.Check(played)) return refused(400, PHONE);
      const { repeat = false, ...what } = played;
      const callbacks = provider.play(what, now);
      if (callbacks === null) return refused(404, `No eSIM ${what.iccid} was sold here, or it was given back.`);
      return { status: 200, body: { sent: await send(callbacks.flatMap((one) => (repeat ? [one, one] : [one]))) } };
    }
    case "POST /callbacks": {
      const given = parsed(body);
      if (!address.Check(given) || (given.url !== null && !isHttp(given.url))) return refused(400, ADDRESS);
      provider.notify(given.url);
      return { status: 200, body: { url: given.url } };
    }
    default:
      return refused(
        404,
        "There are GET, POST and DELETE /_simulate, POST /_simulate/phone, POST /_simulate/callbacks, " +
          "DELETE /_simulate/steering.",
      );
  }
}

function refused(status: number, message: string): ProviderAnswer {
  return { status, body: { message } };
}

/** A body as JSON; undefined where it is none. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function isHttp(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}
