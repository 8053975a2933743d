import { randomBytes } from "node:crypto";
import { execa } from "execa";
import { onTestFinished } from "vitest";
import { eventually } from "./hangs.ts";
import { program, programEnv } from "./process.ts";

/** A real terminal with a shell in it, as a person has one. */
export interface Terminal {
  /** Presses keys, by tmux's names for them: "Enter", "C-c", "Space", "a". */
  press(...keys: string[]): Promise<void>;
  /** Types a text literally, and Enter. */
  enter(text: string): Promise<void>;
  /** Runs the program from the shell; once it has ended, the screen says `ended with CODE`. */
  esimctl(line: string): Promise<void>;
  /** Waits until the screen, from where it was last cleared, matches; answers what it shows. */
  shows(words: RegExp): Promise<string>;
  /** Empties the screen and what scrolled off it. */
  clear(): Promise<void>;
}

interface How {
  columns?: number;
  cwd?: string;
  env?: Record<string, string>;
}

/** Opens a terminal of its own, which is closed with the test. Needs tmux. */
export async function openTerminal({ columns = 90, cwd = process.cwd(), env = {} }: How = {}): Promise<Terminal> {
  const socket = `esimctl-${randomBytes(6).toString("hex")}`;
  const shell = { HISTFILE: "/dev/null", LC_ALL: "C.UTF-8", ESIMCTL: `${process.execPath} ${program}` };
  const options = { cwd, extendEnv: false, env: { ...programEnv, ...shell, ...env } };
  const tmux = async (...args: string[]) => (await execa("tmux", ["-L", socket, "-u", ...args], options)).stdout;
  const size = ["-x", String(columns), "-y", "40"];
  await tmux("-f", "/dev/null", "new-session", "-d", ...size, "bash --norc --noprofile");
  onTestFinished(() => void tmux("kill-server"));
  const screen = () => tmux("capture-pane", "-p", "-J", "-S", "-");
  const press = async (...keys: string[]) => void (await tmux("send-keys", ...keys));
  const shows = (words: RegExp) => eventually(screen, (shown) => words.test(shown));
  const enter = async (text: string) => {
    await tmux("send-keys", "-l", "--", text);
    await press("Enter");
  };
  // A shell that runs another one does not hand its prompt on.
  await enter("PS1='ready '");
  await shows(/^ready/m);
  return {
    press,
    enter,
    shows,
    esimctl: (line) => enter(`$ESIMCTL ${line}; echo ended with $?`),
    async clear() {
      await press("C-l");
      await eventually(
        () => tmux("capture-pane", "-p"),
        (shown) => /^ready\s*$/.test(shown),
      );
      await tmux("clear-history");
    },
  };
}
