import { simulateEsimaccess } from "../../src/daemon/simulators/esimaccess.ts";
import type { EaPackage } from "../../src/daemon/simulators/esimaccess-catalog.ts";
import { deskOf } from "./desk.ts";
import { startPages } from "./pages.ts";
import { type Platform, startPlatform } from "./platform.ts";
import { type StartedProvider, startProvider } from "./providers/start.ts";

/** A package as the catalog of the simulated provider lists it. */
type Listed = EaPackage;

/** An operator with an account at a simulated eSIM Access, set as `ea`. */
export interface SupplierDesk {
  platform: Platform;
  desk: ReturnType<typeof deskOf>;
  provider: StartedProvider;
  /** From now on the provider lists what `edit` makes of its catalog. */
  list(edit: (catalog: readonly Listed[]) => readonly unknown[]): void;
  /** From now on the account holds so much (1/10,000 USD); null: what the simulation counts. */
  hold(balance: number | null): void;
}

/** Starts one, ended with the test; `pages`: with portal and console, at the time that the provider has. */
export async function supplierDesk(options: { set?: string; pages?: true } = {}): Promise<SupplierDesk> {
  const platform = await (options.pages ? startPages({ start: new Date().toISOString() }) : startPlatform());
  const desk = deskOf(platform);
  let edit: (catalog: readonly Listed[]) => readonly unknown[] = (catalog) => [...catalog];
  let held: number | null = null;
  const simulated = simulateEsimaccess();
  const provider = await startProvider({
    ...simulated,
    answer(request) {
      const answer = simulated.answer(request);
      const body = Object(answer.body);
      if (body.success !== true) return answer;
      if (request.path === "/package/list" && JSON.parse(request.body.toString()).type === "BASE") {
        return { ...answer, body: { ...body, obj: { ...body.obj, packageList: edit(body.obj.packageList) } } };
      }
      if (request.path === "/balance/query" && held !== null) {
        return { ...answer, body: { ...body, obj: { ...body.obj, balance: held } } };
      }
      return answer;
    },
  });
  const { url, secret } = provider;
  await desk.json(`suppliers set ea --adapter esimaccess --url ${url} --secret ${secret} ${options.set ?? ""}`);
  return {
    ...{ platform, desk, provider },
    list(by) {
      edit = by;
    },
    hold(balance) {
      held = balance;
    },
  };
}
