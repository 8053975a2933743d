import { requireActivation, requireEditable, requireOwnActivation } from "../../core/activations/activation.ts";
import { editIdentity } from "../../core/activations/edit-identity.ts";
import type { ActivationId } from "../../core/kernel/brand.ts";
import { identityNames, requiredFields, simNames } from "../../core/kernel/identity-fields.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { type FieldErrors, invalid, Problem } from "../../core/kernel/problem.ts";
import type { Read } from "../../core/store/store.ts";
import { bodyReader } from "../../daemon/plugins/validation.ts";
import { ActivationIdentity } from "../../daemon/schemas/activation.ts";
import { formShown } from "../parts/act-form.tsx";
import { pageShown } from "../parts/shown.tsx";
import type { PageOf } from "../session/page.ts";
import { type Form, field, idIn, type Shown, type SignedInVisit } from "../session/visit.ts";
import { requestField, requestLabel } from "./activation-fields.ts";

const contactNames = ["customer_email", "customer_phone", "plan_name"] as const;
const names = [...identityNames, ...simNames, ...contactNames] as const;

const needed: readonly string[] = requiredFields;
/** What a request may do without; the rest of an identity is replaced alone. */
const emptied = names.filter((name) => !needed.includes(name));
const boxOf = (name: string) => `empty_${name}`;

/** Reads a correction as the API does: its shape is checked, the identity is core's to check. */
const readCorrection = bodyReader(ActivationIdentity);

/** A request that may be corrected, of this owner or of any. Throws `not_found` and `not_editable`. */
async function correctable(q: Read, { owner, id }: { owner: Owner | null; id: ActivationId }) {
  const row = owner === null ? await requireActivation(q, id) : await requireOwnActivation(q, owner, { id });
  requireEditable(row);
  const { iccid, partner_id: partnerId, environment } = row;
  return { iccid, owner: { partnerId, environment } };
}

/** What was filled in, as the API's body: what is to be emptied is null. Throws `validation`. */
function correctionIn(form: Form) {
  const set = names.filter((name) => field(form, name) !== "");
  const cleared = emptied.filter((name) => field(form, boxOf(name)) !== "");
  const both = cleared.filter((name) => set.includes(name));
  const errors: FieldErrors = Object.fromEntries(both.map((name) => [name, ["is to be emptied, too: do one of them"]]));
  if (both.length > 0) throw invalid(errors);
  if (set.length + cleared.length === 0) throw new Problem("validation", "Nothing was filled in to be corrected.");
  return readCorrection(
    Object.fromEntries([...set.map((name) => [name, field(form, name)]), ...cleared.map((name) => [name, null])]),
  );
}

/** The page that corrects the identity of a pending request of this owner, or of any: it shows nothing of it. */
export function identityPage<V extends SignedInVisit>(
  ownerOf: (visit: V) => Owner | null,
): Pick<PageOf<V>, "path" | "show" | "act"> {
  const targetOf = (visit: V) => ({ owner: ownerOf(visit), id: idIn<ActivationId>(visit) });
  return {
    path: "/activations/:id/identity",
    show: async (visit) => {
      const target = targetOf(visit);
      const { iccid } = await visit.store.read(correctable, target);
      return formPage(visit, `/activations/${target.id}`, iccid);
    },
    act: async (visit) => {
      const { id, ...asked } = targetOf(visit);
      const { owner } = await visit.store.read(correctable, { ...asked, id });
      await visit.write(editIdentity, { owner, target: { id }, edit: correctionIn(visit.form) });
      return { to: `/activations/${id}`, notice: "The identity is corrected; what was left out is as it was." };
    },
  };
}

function formPage(visit: SignedInVisit, back: string, iccid: string): Shown {
  return pageShown(visit, `Correct the identity of SIM ${iccid}`, [
    <p>
      What is recorded is not shown here, and what is left out stays. All of it together is checked as a new request is.
      A passport that was drawn from the pool goes back to it where another document takes its place.
    </p>,
    formShown(visit, {
      ...{ to: `${back}/identity`, submit: "Correct it", back },
      fields: [
        { heading: "Traveler" },
        ...[...identityNames, ...simNames].map(requestField),
        { heading: "Contact and plan" },
        ...contactNames.map(requestField),
        { heading: "To be emptied" },
        ...emptied.map((name) => ({ tick: boxOf(name), label: requestLabel(name) })),
      ],
    }),
  ]);
}
