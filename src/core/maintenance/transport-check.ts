import { carrierRows } from "../carriers/carrier.ts";
import { isCleartext } from "../kernel/http-url.ts";
import { readSetting } from "../platform/settings.ts";
import type { Read } from "../store/store.ts";
import { listSuppliers } from "../suppliers/supplier.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

interface Reached {
  what: string;
  url: string | null;
  insecure: boolean;
  command: string;
}

/** Where identity data and tokens would travel without TLS: carriers, suppliers, and how the platform is served. */
export async function checkTransport(q: Read): Promise<Finding[]> {
  const found = [
    ...(await parties(q)).flatMap(ofParty),
    ...((await readSetting(q, "insecure")) === "yes" ? [servedInsecure] : []),
    ...((await readSetting(q, "cleartext")) === "yes" ? [servedInClear] : []),
  ];
  return found.length > 0 ? found : [fine("transport", "Nothing is sent beyond this machine without TLS.")];
}

async function parties(q: Read): Promise<Reached[]> {
  const carriers = (await carrierRows(q)).filter(({ adapter }) => adapter === "http");
  const suppliers = (await listSuppliers(q, null)).filter(({ adapter }) => adapter !== "email");
  return [
    ...carriers.map(({ prefix, url, insecure }) => {
      return { what: `carrier ${prefix}`, url, insecure, command: `carriers set ${prefix}` };
    }),
    ...suppliers.map(({ name, url, insecure }) => {
      return { what: `supplier ${name}`, url, insecure, command: `suppliers set ${name}` };
    }),
  ];
}

function ofParty({ what, url, insecure, command }: Reached): Finding[] {
  if (url === null || !isCleartext(url)) return [];
  if (insecure) {
    return [
      warning("transport", `Requests to the ${what} go without TLS to ${url}.`, `esimctl ${command} --url https://…`),
    ];
  }
  const remedy = `esimctl ${command} --url https://…, or --insecure to allow it.`;
  return [fault("transport", `Nothing is sent to the ${what}: ${url} has no TLS.`, remedy)];
}

const servedInsecure = warning(
  "transport",
  "The platform is served with --insecure: mail and PostgreSQL may go beyond this machine without TLS.",
  "Use smtps:// or STARTTLS, and sslmode=verify-full, and serve without --insecure.",
);

const servedInClear = warning(
  "transport",
  "HTTP is answered beyond this machine, and the public address is not https: secrets and tokens travel in clear.",
  "Listen on 127.0.0.1 behind a proxy that speaks TLS, and name its address: --public-url https://…",
);
