import type { SignedInVisit, Visit } from "../session/visit.ts";
import { Field } from "./form.tsx";

/** The field of a code, as browsers and password managers fill it in. */
export function CodeField({ visit }: { visit: Visit }) {
  return (
    <Field
      visit={visit}
      name="code"
      label="Code"
      autocomplete="one-time-code"
      hint="Six digits of your authenticator app, or one of your recovery codes."
    />
  );
}

/** Fills the form's field `passkey` and sends it; the script shows it where the browser has passkeys. */
export function PasskeyButton({ visit }: { visit: SignedInVisit }) {
  return (
    <>
      <input type="hidden" name="passkey" value="" />
      <button type="button" class="plain" data-passkey={`${visit.base}/passkeys/challenge`} hidden>
        Use a passkey
      </button>
    </>
  );
}
