import { command } from "../frame/command.ts";
import { CliError } from "../kernel/errors.ts";

export default command({
  target: "process",
  effects:
    "Removes the profile that --profile names, else the one last logged in. The credential itself stays valid: only " +
    "the operator revokes it.",
  json: "{profile, server, removed}",
  examples: ["logout", "logout --profile sandbox"],
  args: {},
  options: {},
  async run({ globals }) {
    const { forgetProfile, lastProfile, profileNames, readProfile } = await import("../place/profiles.ts");
    const name = (globals.profile ?? process.env.ESIMCTL_PROFILE) || lastProfile()?.name;
    if (name === undefined) throw new CliError("not_logged_in", "There is no login.", "Log in: esimctl login.");
    if (!profileNames().includes(name)) {
      const what = `There is no login as profile ${name}.`;
      throw new CliError("no_such_profile", what, "Nothing is left to forget; esimctl whoami shows who is logged in.");
    }
    // One that cannot be read is forgotten like any other.
    const server = readable(readProfile, name);
    forgetProfile(name);
    const next = lastProfile();
    const text = `Forgot profile ${name}${server === null ? "" : ` (${server})`}.`;
    const now = next === null ? undefined : `Commands now act at ${next.server}, profile ${next.name}.`;
    return { json: { profile: name, server, removed: true }, text: () => text, note: now };
  },
});

function readable(read: (name: string) => { server: string } | null, name: string): string | null {
  try {
    return read(name)?.server ?? null;
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}
