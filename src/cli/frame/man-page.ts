import { columnWords } from "../csv/header.ts";
import { exitCodeWords } from "../kernel/exit-codes.ts";
import { globalOptions } from "../kernel/globals.ts";
import { capital } from "../output/words.ts";
import { partnerOptionsOf } from "../place/partner-options.ts";
import type { Entry, Tree } from "./command.ts";
import { typedAs } from "./gaps.ts";
import { targetWords } from "./help.ts";
import { csvOptions, shapeOptions } from "./shapes.ts";

const intro =
  "esimctl sells eSIMs and SIM cards through partners: it holds the catalog, wallets, orders and activations, serves " +
  "them by an API, and looks after them from this terminal. Commands act on local data, or at a server by its API.";

const where =
  "The first that applies: --server, or --data and --database; ESIMCTL_SERVER; ESIMCTL_DATA and ESIMCTL_DATABASE; " +
  "--profile or ESIMCTL_PROFILE; the profile last logged in; ./esimctl-data.";

const environment: readonly (readonly [string, string])[] = [
  ["ESIMCTL_SERVER, ESIMCTL_CLIENT_ID, ESIMCTL_CLIENT_SECRET", "a server, and the credential that signs in there"],
  ["ESIMCTL_DATA, ESIMCTL_DATABASE, ESIMCTL_KEY_FILE", "the local data"],
  ["ESIMCTL_PROFILE", "the login to act as"],
  ["ESIMCTL_READ_DATABASE", "a replica that answers lists, exports and reports (serve)"],
  ["ESIMCTL_SMTP_URL", "where mail to suppliers goes out (serve)"],
  ["NO_COLOR", "no colors"],
  ["NODE_EXTRA_CA_CERTS", "certificate authorities of your own, for --server"],
];

/** The manual, for man(1), of every command there is. */
export async function manPage({ singles, nouns }: Tree, version: string): Promise<string> {
  const verbs = nouns.flatMap((noun) => noun.verbs.map((verb) => ({ ...verb, name: `${noun.name} ${verb.name}` })));
  const sections = await Promise.all([...singles, ...verbs].map(section));
  return [
    `.TH ESIMCTL 1 "" "esimctl ${escaped(version)}" "User Commands"`,
    // Names of options and variables stay whole, to be copied.
    ".nh",
    ".ad l",
    ".SH NAME",
    "esimctl \\- sell eSIMs and SIM cards through partners",
    ".SH SYNOPSIS",
    ".B esimctl",
    escaped("<noun> <verb> [ids...] [options]"),
    ".SH DESCRIPTION",
    escaped(intro),
    ".SS Where a command acts",
    escaped(where),
    ".SH OPTIONS OF EVERY COMMAND",
    ...globalOptions.flatMap(([flags, help]) => item(flags, help)),
    ".SS Commands that list or show",
    escaped("They print their JSON document in other shapes too; the last three are for lists alone."),
    ...[...Object.values(shapeOptions), ...csvOptions].flatMap(({ flags, help }) => item(flags.join(", "), help)),
    ".SH COMMANDS",
    ...sections.flat(),
    ".SH ENVIRONMENT",
    ...environment.flatMap(([names, help]) => item(names, help)),
    ".SH FILES",
    ...item("esimctl/profiles in the user's config folder", "logins and their tokens, readable by their owner alone"),
    ".SH EXIT STATUS",
    ...Object.entries(exitCodeWords).flatMap(([code, words]) => item(code, words)),
    "",
  ].join("\n");
}

async function section({ name: path, summary, load }: Entry): Promise<string[]> {
  const { args, options, target, effects, csv, json, examples } = await load();
  const typed = ["esimctl", path, ...args.map(typedAs)].join(" ");
  const own = [...options, ...partnerOptionsOf(target)];
  return [
    `.SS "${escaped(path)}"`,
    ".B",
    escaped(typed),
    ".PP",
    escaped(`${capital(summary)}. ${effects} ${targetWords[target] ?? ""}`.trim()),
    ...args.flatMap(({ syntax, help }) => item(syntax, help)),
    ...own.flatMap(({ flags, help }) => item(flags.join(", "), help)),
    ...(csv === undefined ? [] : item("Columns", columnWords(csv))),
    ...(json === undefined ? [] : item("--json", json)),
    ".PP",
    "Examples:",
    ".nf",
    ...examples.map((line) => escaped(`    $ esimctl ${line}`)),
    ".fi",
  ];
}

function item(term: string, help: string): string[] {
  return [".TP", ".B", escaped(term), escaped(help)];
}

/** Text that man shows unchanged, in ASCII. */
function escaped(text: string): string {
  const plain = text.replaceAll("…", "...").replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq");
  const safe = plain.replaceAll(/[^\x20-\x7e]/gu, (one) => `\\[u${hexadecimal(one)}]`);
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}

function hexadecimal(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}
