import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import {
  isCallExpression,
  isHeritageClause,
  isNewExpression,
  isPropertyAccessExpression,
} from "typescript/unstable/ast/is";
import { lineOf, type Source, walk } from "./sources.ts";

/** Something that must not be in a source, what to write instead, and an example that the rule must find. */
export interface TidyRule {
  name: string;
  instead: string;
  /** The files it holds in; left out: all. */
  within?: (path: string) => boolean;
  finds: (node: Node, source: Source) => boolean;
  /** Code in the named file that breaks this rule. */
  example: [path: string, text: string];
}

/** `path:line: what is wrong; what to write instead`, for every place that breaks `rule`. */
export function breaches(rule: TidyRule, sources: Source[]): string[] {
  const found: string[] = [];
  for (const source of sources.filter(({ path }) => rule.within?.(path) ?? true)) {
    walk(source.tree, (node) => {
      if (!rule.finds(node, source)) return;
      found.push(`${source.path}:${lineOf(source.tree, node)}: ${rule.name}; ${rule.instead}`);
    });
  }
  return found;
}

const inCore = (path: string) => path.startsWith("src/core/");
const inSources = (path: string) => path.startsWith("src/");
const sourcesOfChance = [
  "src/core/kernel/clock.ts",
  "src/core/kernel/ids.ts",
  "src/core/store/sealing/create-vault.ts",
];
const plainCore = (path: string) => inCore(path) && !sourcesOfChance.includes(path);

function text(node: Node, tree: SourceFile): string {
  return node.getText(tree).replaceAll(/\s+/g, "");
}

/** What a call calls, as written and without spaces; empty for any other node. */
function callee(node: Node, { tree }: Source): string {
  return isCallExpression(node) ? text(node.expression, tree) : "";
}

function calls(pattern: RegExp): TidyRule["finds"] {
  return (node, source) => pattern.test(callee(node, source));
}

function isMember(node: Node, source: Source, pattern: RegExp): boolean {
  return isPropertyAccessExpression(node) && pattern.test(text(node, source.tree));
}

/** A biome-ignore with its reason is on the line before. */
function isExcused(node: Node, { tree, lines }: Source): boolean {
  return /biome-ignore lint\/suspicious\/noExplicitAny: \w+/.test(lines[lineOf(tree, node) - 2] ?? "");
}

/** What may not be in the sources. The compiler and the linter check the rest. */
export const tidyRules: TidyRule[] = [
  {
    name: "reads the machine's clock",
    instead: "take `now` from the read, the transaction or a Clock",
    within: plainCore,
    finds: (node, source) =>
      callee(node, source) === "Date.now" ||
      (isNewExpression(node) && text(node.expression, source.tree) === "Date" && !node.arguments?.length),
    example: ["src/core/orders/a.ts", "export const late = new Date() > new Date(0) || Date.now() > 0;"],
  },
  {
    name: "makes chance of its own",
    instead: "take `ids` from the transaction (kernel/ids.ts)",
    within: plainCore,
    finds: calls(/^(Math\.random|(crypto\.)?(randomUUID|randomBytes|randomInt|getRandomValues)|v[47])$/),
    example: ["src/core/orders/a.ts", "export const id = crypto.randomUUID();"],
  },
  {
    name: "knows the process or prints",
    instead: "take it as input, or answer it and let the terminal print",
    within: inCore,
    finds: (node, source) => isMember(node, source, /^(process|console)\.\w+$/),
    example: ["src/core/orders/a.ts", "export const home = process.env.HOME;"],
  },
  {
    name: "reads the arguments or ends the process",
    instead: "let src/cli do it",
    within: (path) => inSources(path) && !path.startsWith("src/cli/"),
    finds: (node, source) => isMember(node, source, /^process\.(argv|exit|exitCode|env|stdin|on|once)$/),
    example: ["src/daemon/a.ts", "process.exit(1);"],
  },
  {
    name: "opens drizzle's own transaction",
    instead: "write a command and give it to store.write: on SQLite drizzle runs async bodies outside the transaction",
    within: inSources,
    finds: calls(/\.transaction$/),
    example: ["src/core/orders/a.ts", "declare const db: { transaction(): void }; db.transaction();"],
  },
  {
    name: "runs a query with what only SQLite has",
    instead: "await the query",
    within: (path) => inSources(path) && !/^src\/core\/store\/(sqlite|open\/(backup|cop))/.test(path),
    // Without arguments: a Map's get and the like take some.
    finds: (node, source) =>
      isCallExpression(node) && node.arguments.length === 0 && /\.(get|all|run)$/.test(callee(node, source)),
    example: ["src/core/orders/a.ts", "declare const q: { all(): number[] }; q.all();"],
  },
  {
    name: "says `any`",
    instead: "name the type, or unknown and look; a test may with a biome-ignore that says why",
    finds: (node, source) =>
      node.kind === SyntaxKind.AnyKeyword && !(source.path.startsWith("test/") && isExcused(node, source)),
    example: ["src/core/orders/a.ts", "export function f(x: any) { return x as any; }"],
  },
  {
    name: "leaves out or singles out a test",
    instead: "let it run, or take it away",
    within: (path) => path.startsWith("test/"),
    finds: calls(/^(test|it|describe|suite)\.(only|skip|todo|fails)$/),
    example: ["test/a.test.ts", 'declare const test: { only(name: string): void }; test.only("x");'],
  },
  {
    name: "inherits from a class",
    instead: "write functions over data; only errors extend Error",
    finds: (node, { tree }) =>
      isHeritageClause(node) &&
      node.token === SyntaxKind.ExtendsKeyword &&
      node.parent.kind === SyntaxKind.ClassDeclaration &&
      node.types.some((type) => text(type.expression, tree) !== "Error"),
    example: ["src/core/orders/a.ts", "class A {} export class B extends A {}"],
  },
  {
    name: "decorates",
    instead: "call the function",
    finds: (node) => node.kind === SyntaxKind.Decorator,
    example: ["src/core/orders/a.ts", "declare const d: () => void; @d export class A {}"],
  },
  {
    name: "exports everything of another file",
    instead: "import what is meant from where it is",
    finds: (node, { tree }) => node.kind === SyntaxKind.ExportDeclaration && /^export(type)?\*/.test(text(node, tree)),
    example: ["src/core/orders/a.ts", 'export * from "./b.ts";'],
  },
  {
    name: "exports a function or an interface without a doc comment",
    instead: "name what it promises and throws, or what it holds",
    within: inSources,
    finds: (node, { tree }) =>
      (node.kind === SyntaxKind.FunctionDeclaration || node.kind === SyntaxKind.InterfaceDeclaration) &&
      /^export\b/.test(node.getText(tree)) &&
      !node.jsDoc?.length,
    example: ["src/core/orders/a.ts", "export interface A { a: 1 }"],
  },
];
