import { notFound, Problem } from "../../../core/kernel/problem.ts";
import { onceShown } from "../../parts/shown.tsx";
import { field, type PortalVisit, type Shown } from "../../session/visit.ts";

/** The one time that a secret is shown: each with the ID of its element and its name. */
export function secretShown(
  visit: PortalVisit,
  title: string,
  given: Omit<Parameters<typeof onceShown>[2], "words">,
): Shown {
  const words = "The secret is shown only now. Keep it where your program finds it, and nowhere else.";
  return onceShown(visit, title, { ...given, words });
}

/** Throws `not_found` in place of what says that an eSIM is another's, or none; what else was thrown, as it is. */
export function asNotFound(error: unknown): never {
  const isHidden = error instanceof Problem && (error.slug === "esim_forbidden" || error.slug === "invalid_iccid");
  throw isHidden ? notFound("esim") : error;
}

const OPENED_IN = "opened_in";

/** What binds a form to the environment in which it was opened: its hidden field. */
export function openedHere({ owner }: PortalVisit): { [field: string]: string } {
  return { [OPENED_IN]: owner.environment };
}

/** Refuses a form that was opened in the other environment. Throws `conflict`. */
export function requireOpenedHere({ form, owner }: PortalVisit): void {
  const opened = field(form, OPENED_IN);
  if (opened === "" || opened === owner.environment) return;
  throw new Problem(
    "conflict",
    `This form was opened in the ${opened === "sandbox" ? "sandbox" : "production"} environment, and you are in ` +
      `${owner.environment} now: nothing was done. Switch back, or look at the form and send it again.`,
  );
}
