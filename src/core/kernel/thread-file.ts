/**
 * Where the program of a thread is: `NAME-thread` beside the file that starts it, whose `import.meta.url` is `starter`.
 * The build puts it beside the entry, and the code that starts it into a folder below.
 */
export function threadFile(starter: string, name: string): URL {
  return new URL(starter.endsWith(".ts") ? `./${name}-thread.ts` : `../${name}-thread.js`, starter);
}
