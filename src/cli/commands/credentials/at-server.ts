import type { Context } from "../../frame/command.ts";

/** Whether the command acts at a server: there a partner manages its own credentials, elsewhere the operator all. */
export async function isAtServer(context: Context): Promise<boolean> {
  return (await context.where()).kind === "server";
}

/** What to do next where the credential that one is signed in with has lost its secret; undefined: it is another. */
export async function signInAgain(context: Context, clientId: string): Promise<string | undefined> {
  const where = await context.where();
  if (where.kind !== "server" || where.clientId !== clientId) return undefined;
  return "You are signed in with this credential: esimctl login again.";
}
