import { Problem } from "../../../core/kernel/problem.ts";
import { isProvider, requireSupplier, supplierContact } from "../../../core/suppliers/supplier.ts";
import type { Provider } from "../../../daemon/gateways/suppliers/provider.ts";
import { usingProviders } from "../../../daemon/gateways/suppliers/providers.ts";
import type { ConsoleVisit } from "../../session/visit.ts";

/**
 * Does something with a supplier's own API, within the limits that all share. Throws `not_found`, and `conflict` where
 * it has no such API, or lacks its secret or a safe address.
 */
export async function withProvider<T>(
  { store, context }: ConsoleVisit,
  name: string,
  work: (provider: Provider) => Promise<T>,
): Promise<T> {
  await store.read(requireSupplier, name);
  const contact = await store.read(supplierContact, name);
  if (contact === null || !isProvider(contact.adapter)) {
    throw new Problem("conflict", `${name} has no API of a provider that could be asked.`);
  }
  return usingProviders({ store, now: context.clock.now }, (providers) => {
    const provider = providers.of(contact);
    if (provider === null) throw new Problem("conflict", `${name} has no secret, or its address is not https.`);
    return work(provider);
  });
}
