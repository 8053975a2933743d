import type { Store } from "../../../core/store/store.ts";
import type { SupplierContact } from "../../../core/suppliers/supplier.ts";
import type { Provider } from "../../../daemon/gateways/suppliers/provider.ts";
import type { Providers } from "../../../daemon/gateways/suppliers/providers.ts";
import type { Context } from "../../frame/command.ts";
import { CliError } from "../../kernel/errors.ts";
import { usingProviders } from "../../place/providers.ts";

/** How a command reaches providers. */
export interface Reach {
  store: Store;
  /** A supplier by its name. Throws `not_found`, and `no_provider` for one that has no API of its own. */
  contact(name: string): Promise<SupplierContact>;
  /** Its API; null: it lacks its secret or a safe address. */
  of(contact: SupplierContact): Provider | null;
  /** The same; throws `provider_not_set` in its place. */
  provider(contact: SupplierContact): Provider;
}

/** Reaches providers as the daemon does, within the same limits. */
export async function withProviders<T>(context: Context, work: (reach: Reach) => Promise<T>): Promise<T> {
  const { isProvider, requireSupplier, supplierContact } = await import("../../../core/suppliers/supplier.ts");
  const reaching = async ({ store }: { store: Store }, providers: Providers): Promise<T> =>
    work({
      store,
      async contact(name) {
        await store.read(requireSupplier, name);
        const contact = await store.read(supplierContact, name);
        if (contact !== null && isProvider(contact.adapter)) return contact;
        const how = contact?.adapter === "email" ? "by mail" : "by signed requests";
        throw new CliError("no_provider", `${name} is reached ${how}.`, "This is for providers: suppliers list.");
      },
      of: (contact) => providers.of(contact),
      provider(contact) {
        const provider = providers.of(contact);
        if (provider !== null) return provider;
        throw new CliError("provider_not_set", `${contact.name} ${LACKS}.`, `suppliers set ${contact.name} sets them.`);
      },
    });
  return context.withStore((opened) => usingProviders(opened, (providers) => reaching(opened, providers)));
}

/** What a provider lacks that has no API. */
export const LACKS = "has no secret, or its address is not https";
