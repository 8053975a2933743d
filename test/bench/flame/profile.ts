import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A profile as `node --cpu-prof` writes it, as much of it as is read here. Times are in µs. */
export interface CpuProfile {
  nodes: ProfileNode[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

/** A function with what it called, merged over all calls from the same place. */
export interface Frame {
  name: string;
  /** Where its code is: a file of `src`, a package, a module of Node; empty for V8 and native code. */
  place: string;
  /** Processor time with all it called (µs). */
  total: number;
  callees: Map<string, Frame>;
}

/** A part of a profile, in its own time (µs). */
export interface Span {
  from: number;
  to: number;
}

/** What ran meanwhile; without what waited. */
export function framesOf(profile: CpuProfile, span: Span): Frame {
  const own = ownTimes(profile, span);
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const places = placeFinder();
  const merge = (node: ProfileNode, into: Frame): number => {
    const { functionName, url, lineNumber } = node.callFrame;
    if (functionName === "(idle)") return 0;
    const name = functionName || "(anonymous)";
    const place = places(url, lineNumber);
    const key = `${name} ${place}`;
    const frame = into.callees.get(key) ?? { name, place, total: 0, callees: new Map() };
    into.callees.set(key, frame);
    const called = (node.children ?? []).map((id) => byId.get(id)).filter((child) => child !== undefined);
    const total = called.reduce((sum, child) => sum + merge(child, frame), own.get(node.id) ?? 0);
    frame.total += total;
    return total;
  };
  const root: Frame = { name: "all", place: "", total: 0, callees: new Map() };
  const [first] = profile.nodes;
  for (const id of first?.children ?? []) {
    const node = byId.get(id);
    if (node !== undefined) root.total += merge(node, root);
  }
  return root;
}

/** The time of each node itself. The time before a sample is that of the sample before. */
function ownTimes({ samples, timeDeltas, startTime }: CpuProfile, { from, to }: Span): Map<number, number> {
  const times = new Map<number, number>();
  let at = startTime;
  samples.forEach((_, index) => {
    const delta = timeDeltas[index] ?? 0;
    at += delta;
    const before = samples[index - 1];
    if (before !== undefined && at >= from && at <= to) times.set(before, (times.get(before) ?? 0) + delta);
  });
  return times;
}

/** Says of a line of a program's file whose source it is, without the folders of this machine. */
function placeFinder(): (url: string, line: number) => string {
  const chunks = new Map<string, string[]>();
  return (url, line) => {
    if (!url.startsWith("file:")) return url.startsWith("node:") ? url : "";
    const path = fileURLToPath(url);
    if (path.includes("node_modules/")) return packageOf(path);
    const lines = chunks.get(path) ?? readFileSync(path, "utf8").split("\n");
    chunks.set(path, lines);
    // The bundler writes the name of each file above its code.
    const above = lines.slice(0, line + 1).findLast((text) => /^\s*\/\/ (?:src|node_modules)\/\S+$/.test(text));
    const source = above?.replace(/^\s*\/\/ /, "") ?? "";
    return source.startsWith("node_modules/") ? packageOf(source) : source;
  };
}

/** The package that a file belongs to. */
function packageOf(path: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "";
}
