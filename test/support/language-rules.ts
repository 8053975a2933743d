/** A word or phrase that the project does not use, and what to write in its place. */
export interface LanguageRule {
  term: string;
  say: string;
  /** Matched against text in which the parts of names are separate words. */
  pattern: RegExp;
  /** Text that breaks it. */
  example: string;
}

/** Text that a rule does not apply to, and why. */
export interface AllowedText {
  pattern: RegExp;
  why: string;
  example: string;
}

/** Files that are not checked, and why. */
export const uncheckedPaths: { pattern: RegExp; why: string }[] = [
  { pattern: /^test\/(support\/language-rules|language\.test)\.ts$/, why: "the rules with their examples" },
  { pattern: /^src\/core\/store\/migrations\//, why: "written by a tool" },
  { pattern: /(^|\/)node_modules\//, why: "installed, not written here" },
];

export const languageRules: LanguageRule[] = [
  {
    term: "British spelling",
    say: "color, authorize, recognize, serialize, behavior, normalize",
    pattern: /\b(\w*(colour|favour|behaviour|neighbour)\w*|(un)?(authoris|recognis|serialis|normalis)\w*)\b/gi,
    example: "the colours of an authorised client",
  },
  {
    term: "traveller, fulfilment",
    say: "traveler, fulfill, fulfillment",
    pattern: /\btravellers?\b|\bfulfil(s|ment)?\b/gi,
    example: "fulfilment for travellers",
  },
  {
    term: "an inverted opening (Of an endpoint 96 are claimed)",
    say: "the subject first: each endpoint may have 96",
    pattern: /(?:^|[.:] |\/\*\* |\/\/ |^\s*\* )Of [a-z0-9]/g,
    example: "// Of an endpoint 96 deliveries are claimed.",
  },
  {
    term: "blot out, unsaid",
    say: "redact, redacted",
    pattern: /\b(blot(s|ted|ting)?|unsaid)\b/gi,
    example: "what is blotted out",
  },
  {
    term: "try (noun)",
    say: "attempt, record an attempt",
    pattern: /\b(a|an|each|every|next|first|last|another|per|many|more|of|its) (try|tries)\b/gi,
    example: "recordTries of the next try",
  },
  {
    term: "heard, what was said",
    say: "attempt",
    pattern: /\bheard\b|\bwhat was said\b/gi,
    example: "heardFrom",
  },
  {
    term: "no good, makes no sense, not possible here",
    say: "invalid, unsupported, not allowed",
    pattern: /\b(no good|good no longer|no longer good|makes? no sense|not possible here)\b/gi,
    example: "this makes no sense",
  },
  {
    term: "judge",
    say: "verify, reject; record the verdict",
    pattern: /\bjudg(e|es|ed|ing)\b/gi,
    example: "judgePassport",
  },
  { term: "rouse", say: "wake, notify, signal", pattern: /\brous(e|es|ed|ing)\b/gi, example: "rouse()" },
  {
    term: "patiently",
    say: "retry while busy, back off",
    pattern: /\b(patiently|patience|patient)\b/gi,
    example: "BUSY_PATIENCE_MS",
  },
  {
    term: "ailing, came back, waiting for somebody",
    say: "due, overdue, stuck, held, exhausted",
    pattern: /\b(ailing|came back|wait(s|ing)? for somebody)\b/gi,
    example: "ailingQueues",
  },
  { term: "crooked", say: "unbalanced", pattern: /\bcrooked\b/gi, example: "crooked entries" },
  {
    term: "slip of the keyboard",
    say: "typo",
    pattern: /\bslips?\b(?! away)/gi,
    example: "a slip of the keyboard",
  },
  { term: "mend", say: "fix", pattern: /\bmend(s|ed|ing)?\b/gi, example: "mend it" },
  { term: "anew", say: "again, or leave it out", pattern: /\banew\b/gi, example: "started anew" },
  {
    term: "whoever, somebody, nobody",
    say: "any caller, the caller, whichever node",
    pattern: /\b(whoever|somebody|nobody)\b/gi,
    example: "Whoever asks",
  },
  {
    term: "tell, told",
    say: "show, print, report, list",
    pattern: /\b(tells?|telling|told)\b/gi,
    example: "toldOf",
  },
  {
    term: "the very words of",
    say: "must match … exactly",
    pattern: /\bthe very words\b/gi,
    example: "the very words of the index",
  },
  {
    term: "the house",
    say: "makes no network calls",
    pattern: /\b(the|of the|in) house\b/gi,
    example: "leaves the house",
  },
  { term: "of ours", say: "our …, or what brands it", pattern: /\bof ours\b/gi, example: "an id of ours" },
  {
    term: "come into its own",
    say: "not yet active",
    pattern: /\binto its own\b/gi,
    example: "not come into its own",
  },
  {
    term: "examine",
    say: "run checks, findings",
    pattern: /\bexamin(e|es|ed|ing)\b/gi,
    example: "examine it",
  },
  {
    term: "stand",
    say: "scope, target, placement",
    pattern: /\b(stands?|standing|stood)\b/gi,
    example: "where_it_stands",
  },
];

/** What may stay although a rule matches it. */
export const allowedTexts: AllowedText[] = [
  {
    pattern: /\btraveller_sealed\b|\btraveller(?=[`\\",])|`travellers`/g,
    why: "columns, of now and of before, and a field of a release",
    example: "traveller_sealed",
  },
  { pattern: /sk_test_nobody|call-nobody/g, why: "made-up identifiers of tests", example: "call-nobody" },
  { pattern: /\buser(?:\s+is)? nobody\b|["`]nobody["`]/g, why: "the name of a Unix user", example: "the user nobody" },
];
