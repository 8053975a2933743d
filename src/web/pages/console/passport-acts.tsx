import type { PassportId } from "../../../core/kernel/brand.ts";
import { type OperatorPassport, showPassport } from "../../../core/passports/operator-view.ts";
import { revealPassport } from "../../../core/passports/reveal.ts";
import { recordVerdict, type Verdict } from "../../../core/passports/verdict.ts";
import type { FieldOf } from "../../parts/act-form.tsx";
import { actPage } from "../../parts/act-page.tsx";
import { consolePage } from "../../session/page.ts";
import { type ConsoleVisit, choiceField, idIn, requiredField, type Shown } from "../../session/visit.ts";
import { identityFields, identityShown, requireSight } from "./identity.tsx";

const acts = { verify: ["Verify", "verified"], reject: ["Reject", "rejected"] } as const;
type Act = keyof typeof acts;

/** The verdict that a form asks for. Throws `validation`. */
function verdictIn(act: Act, { form }: ConsoleVisit): Verdict {
  if (act === "reject") return { verification: "rejected", reason: requiredField(form, "reason") };
  const mark = choiceField(form, "onshore", ["keep", "onshore", "offshore"]);
  return { verification: "verified", onshore: mark === "keep" ? undefined : mark === "onshore" };
}

function fieldOf(act: Act, { onshore }: OperatorPassport): FieldOf {
  if (act === "reject") return { name: "reason", label: "Reason", hint: "For your own people.", required: true };
  const kept = ["keep", `as it is: ${onshore ? "onshore" : "offshore"}`] as const;
  const hint = "Only passports of holders who are onshore are drawn.";
  return { name: "onshore", label: "Its holder is", hint, options: [kept, "onshore", "offshore"] };
}

const drawn: Readonly<Record<Act, string>> = {
  verify: "It cannot be drawn: only holders who are onshore have theirs drawn.",
  reject: "It is drawn no more; what drew it already goes on. Its partner is not notified.",
};

const decided = (act: Act) =>
  actPage({
    verb: act,
    read: (visit: ConsoleVisit) => visit.store.read(showPassport, idIn(visit) as PassportId), // the database decides
    at: ({ id }) => `/passports/${id}`,
    title: ({ id, reference }) => `${acts[act][0]}: passport ${reference ?? id}`,
    button: acts[act][0],
    bad: act === "reject",
    fields: (before) => [fieldOf(act, before)],
    command: recordVerdict,
    input: (visit, { id }) => ({ id, ...verdictIn(act, visit) }),
    foresee: ({ drawable, onshore }, { verification }) => (
      <>
        <p>
          Verification: {verification} → {acts[act][1]}; its holder is {onshore ? "onshore" : "offshore"}.
        </p>
        <p>{drawable ? "It can be drawn for activations." : drawn[act]}</p>
      </>
    ),
    done: () => `The passport is ${acts[act][1]}.`,
  });

async function reveal(visit: ConsoleVisit): Promise<Shown> {
  requireSight(visit, "passports.read");
  const id = idIn(visit) as PassportId; // the database decides whether it is one
  const identity = await visit.write(revealPassport, { id });
  const fields = identityFields({ ...identity.reveal() });
  return identityShown(visit, { title: "Identity of a passport", fields, back: `/passports/${id}` });
}

/** Verdicts, and the one page that shows a whole passport. */
export const passportActPages = [
  consolePage({ path: "/passports/:id/verify", needs: "passports.write", ...decided("verify") }),
  consolePage({ path: "/passports/:id/reject", needs: "passports.write", ...decided("reject") }),
  consolePage({ path: "/passports/:id/reveal", needs: "reveal", act: reveal, stepUp: true, secret: true }),
];
