import { operatorList } from "../../frame/list-command.ts";
import { partnerOption } from "../../place/partner-options.ts";
import { CREDENTIAL_JSON, credentialColumns } from "./view.ts";

export default operatorList({
  effects: "Secrets are not stored and never shown.",
  json: `{data: [${CREDENTIAL_JSON}], count}`,
  examples: ["credentials list --partner acme"],
  options: { partner: partnerOption },
  columns: credentialColumns,
  empty: "No credentials yet: esimctl credentials create issues one.",
  async read(store, { partner }) {
    const { listCredentials } = await import("../../../core/credentials/credential.ts");
    return store.read(listCredentials, partner);
  },
});
