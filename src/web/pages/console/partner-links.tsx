import { ActButton } from "../../parts/form.tsx";
import type { ConsoleVisit } from "../../session/visit.ts";

/** The partner that the address names by its slug. */
export function slugOf({ request }: ConsoleVisit): string {
  // Every page that asks is under /partners/:slug.
  return (request.params as { slug: string }).slug;
}

/** The pages of a partner that the role may see, and its portal. */
export function PartnerLinks({ visit, slug }: { visit: ConsoleVisit; slug: string }) {
  const at = `${visit.base}/partners/${slug}`;
  return (
    <div class="acts">
      <a href={at}>Overview</a>
      {visit.may("money.read") && <a href={`${at}/wallet`}>Wallet</a>}
      <a href={`${at}/prices`}>Prices</a>
      <a href={`${at}/credentials`}>Credentials</a>
      <a href={`${at}/endpoints`}>Endpoints</a>
      <a href={`${visit.base}/deliveries?partner=${slug}`}>Webhooks</a>
      {visit.may("users") && <a href={`${at}/users`}>People</a>}
      {visit.may("partners.write") && <a href={`${at}/settings`}>Settings</a>}
      {visit.may("partners.write") && <a href={`${at}/thresholds`}>Thresholds</a>}
      {visit.may("view_as") && <ActButton visit={visit} to={`/partners/${slug}/view-as`} label="View its portal" />}
    </div>
  );
}
