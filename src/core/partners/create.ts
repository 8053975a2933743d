import { recordAudit } from "../audit/record.ts";
import type { PartnerId } from "../kernel/brand.ts";
import { newId } from "../kernel/ids.ts";
import { invalid, Problem } from "../kernel/problem.ts";
import { insert } from "../store/rows.ts";
import type { Tier } from "../store/schema/values.ts";
import type { Tx } from "../store/store.ts";
import { findPartner, type Partner, partnerById, wholePartner } from "./partner.ts";

/** A partner as the operator describes it; what is left out is standard tier, no agent, no production. */
export interface NewPartner {
  slug: string;
  name: string;
  tier?: Tier;
  agent?: boolean;
  production?: boolean;
  actor: string;
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Creates a partner. Throws `validation` for a bad slug or name, `duplicate` when the slug is taken. */
export async function createPartner(tx: Tx, input: NewPartner): Promise<Partner> {
  const name = input.name.trim();
  if (!SLUG.test(input.slug)) {
    throw invalid({ slug: ["must be 1-63 lower-case letters, digits and hyphens, e.g. acme-travel"] });
  }
  if (name === "" || name.length > 200) throw invalid({ name: ["must have 1 to 200 characters"] });
  if ((await findPartner(tx, input.slug)) !== null) {
    throw new Problem("duplicate", `A partner with the slug ${input.slug} exists already.`);
  }
  const id = newId<PartnerId>(tx);
  await insert(tx, "partners", [
    {
      id,
      slug: input.slug,
      name,
      status: "active",
      tier: input.tier ?? "standard",
      agent: input.agent ?? false,
      production: input.production ?? false,
      sandbox_activations: true,
      created_at: tx.now,
      updated_at: tx.now,
    },
  ]);
  await recordAudit(tx, { actor: input.actor, action: "partners.create", targetKind: "partner", targetId: id });
  await tx.touch();
  return wholePartner(tx, await partnerById(tx, id));
}
