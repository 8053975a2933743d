import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import { isCallExpression, isImportTypeNode, isStringLiteral } from "typescript/unstable/ast/is";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";

/** A module that a file names: by import, re-export, `import()` or a type's import. */
export interface Import {
  /** As written: a relative path or a package. */
  specifier: string;
  /** The file meant, relative to the repository; null for packages. */
  file: string | null;
  line: number;
}

/** A TypeScript file of the project, parsed by the compiler that also checks it. */
export interface Source {
  /** Relative to the repository, with `/`. */
  path: string;
  lines: string[];
  tree: SourceFile;
  imports: Import[];
}

/** The root of the repository. */
export const root = join(import.meta.dirname, "..", "..");

/** Every file of src, test and scripts but the migrations, which a tool writes. */
export function readSources(): Source[] {
  return madeUpSources(readTexts());
}

/** The text of every such file by its path: parsing all of them takes many times as long. */
export function readTexts(): Record<string, string> {
  const paths = ["src", "test", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const ours = paths.filter((path) => /\.tsx?$/.test(path) && !path.includes("node_modules"));
  return Object.fromEntries(ours.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** Files that exist only in a test: path and text of each. They are parsed alone: nothing that they import is read. */
export function madeUpSources(files: Record<string, string>): Source[] {
  const at = "/made-up";
  const named = Object.entries(files).map(([path, text]) => [`${at}/${path}`, text]);
  const alone = { noEmit: true, types: [], noLib: true, noResolve: true, jsx: "preserve" };
  const config = JSON.stringify({ compilerOptions: alone, include: ["src", "test", "scripts"] });
  const fs = createVirtualFileSystem({ ...Object.fromEntries(named), [`${at}/tsconfig.json`]: config });
  return sourcesOf(at, new API({ cwd: at, fs }));
}

function sourcesOf(home: string, api: API): Source[] {
  try {
    const config = `${home}/tsconfig.json`;
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error("tsconfig.json could not be opened");
    return project.program
      .getSourceFileNames()
      .map((name) => ({ name, path: relative(home, name).replaceAll("\\", "/") }))
      .filter(({ path }) => /^(src|test|scripts)\//.test(path) && !path.startsWith("src/core/store/migrations/"))
      .map(({ name, path }) => sourceOf(path, project.program.getSourceFile(name)));
  } finally {
    api.close();
  }
}

function sourceOf(path: string, tree: SourceFile | undefined): Source {
  if (tree === undefined) throw new Error(`${path} could not be parsed`);
  return { path, lines: tree.text.replace(/\n$/, "").split("\n"), tree, imports: importsOf(path, tree) };
}

/** Calls `visit` for every node of a file, parents first. */
export function walk(tree: SourceFile, visit: (node: Node) => void): void {
  const step = (node: Node): void => {
    visit(node);
    node.forEachChild(step);
  };
  tree.forEachChild(step);
}

/** The line, counted from 1, on which a node begins; comments before it do not count. */
export function lineOf(tree: SourceFile, node: Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

function importsOf(path: string, tree: SourceFile): Import[] {
  const found: Import[] = [];
  walk(tree, (node) => {
    if (!isStringLiteral(node) || !namesModule(node)) return;
    const specifier = node.text;
    const file = specifier.startsWith(".") ? join(path, "..", specifier).replaceAll("\\", "/") : null;
    found.push({ specifier, file, line: lineOf(tree, node) });
  });
  return found;
}

function namesModule({ parent }: Node): boolean {
  if (parent.kind === SyntaxKind.ImportDeclaration || parent.kind === SyntaxKind.ExportDeclaration) return true;
  if (isCallExpression(parent)) return parent.expression.kind === SyntaxKind.ImportKeyword;
  return parent.kind === SyntaxKind.LiteralType && isImportTypeNode(parent.parent);
}
