import { Problem } from "../../core/kernel/problem.ts";
import type { SandboxScenario } from "../../core/store/schema/values.ts";
import type { Principal } from "../context/context.ts";

/** The caller, whose credential must be of the sandbox. Throws `sandbox_only`. */
export function requireSandbox(caller: Principal): Principal {
  if (caller.environment === "sandbox") return caller;
  throw new Problem("sandbox_only", "This works with a sandbox credential only; yours is of production.");
}

/** The scenario that a request asks for; null: none. Throws `sandbox_only` for one with a production credential. */
export function scenarioOf(caller: Principal, named: SandboxScenario | undefined): SandboxScenario | null {
  if (named === undefined) return null;
  requireSandbox(caller);
  return named;
}
