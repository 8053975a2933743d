import {
  type Diagnosis,
  diagnose,
  type EsimFacts,
  type StoredFacts,
  storedFacts,
} from "../../../core/after-sale/diagnose.ts";
import type { EsimRow } from "../../../core/esims/esim.ts";
import { Problem } from "../../../core/kernel/problem.ts";
import type { Store } from "../../../core/store/store.ts";
import { isProvider, supplierContact } from "../../../core/suppliers/supplier.ts";
import type { EsimReportOf } from "../../../core/supply/provider.ts";
import type { Provider } from "./provider.ts";
import type { Providers } from "./providers.ts";

/** What diagnosing needs. */
interface DiagnoseDependencies {
  store: Pick<Store, "read">;
  providers: Pick<Providers, "of">;
}

/** eSIMs that one look asks for. */
const AT_ONCE = 10;

/** Diagnoses eSIMs: from what is stored, and from what their suppliers show now, where they do. Changes nothing. */
export async function diagnoseEsims(deps: DiagnoseDependencies, esims: readonly EsimRow[]): Promise<Diagnosis[]> {
  const stored = await deps.store.read(storedFacts, esims);
  const found = new Map<StoredFacts, Diagnosis>();
  for (const [supplier, facts] of Map.groupBy(stored, ({ esim }) => esim.supplier)) {
    const provider = await providerOf(deps, supplier);
    for (let from = 0; from < facts.length; from += AT_ONCE) {
      const some = facts.slice(from, from + AT_ONCE);
      const seen = typeof provider === "string" ? some.map(() => silent(provider)) : await lookAt(provider, some);
      for (const [at, one] of some.entries())
        found.set(one, diagnose({ ...one, ...(seen[at] ?? silent("shows nothing")) }));
    }
  }
  return stored.flatMap((one) => found.get(one) ?? []);
}

type Shown = Pick<EsimFacts, "look" | "silence">;

function silent(silence: string): Shown {
  return { look: null, silence };
}

/** A text says why there is none. */
async function providerOf(
  { store, providers }: DiagnoseDependencies,
  supplier: string | null,
): Promise<Provider | string> {
  if (supplier === null) return "shows nothing of its eSIMs";
  const contact = await store.read(supplierContact, supplier);
  if (contact === null || !isProvider(contact.adapter)) return "has no API that shows its eSIMs";
  return providers.of(contact) ?? "cannot be asked: it has no secret, or no address that may be used";
}

async function lookAt(provider: Provider, facts: readonly StoredFacts[]): Promise<Shown[]> {
  const refs = facts.map(({ esim }) => ({ iccid: esim.iccid, reference: esim.supplier_ref }));
  // An ICCID that was used again shows another eSIM by now.
  const asked = refs.filter((_, at) => facts[at]?.esim.retired_at === null);
  const reports = asked.length === 0 ? [] : await provider.look(asked).catch(silenceOf);
  if (typeof reports === "string") return refs.map(() => silent(reports));
  return refs.map((ref) => {
    const look = asked.includes(ref) ? reports.find((one) => isOf(one, ref)) : undefined;
    return look === undefined ? silent("does not show it") : { look, silence: null };
  });
}

function silenceOf(error: unknown): string {
  if (error instanceof Problem) return `gave no usable answer (${error.message}); what is known here is older`;
  throw error;
}

function isOf(report: EsimReportOf, ref: { iccid: string; reference: string | null }): boolean {
  return report.iccid === ref.iccid && report.reference === ref.reference;
}
