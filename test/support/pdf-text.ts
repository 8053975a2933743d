import { inflateSync } from "node:zlib";

/** The pages of a PDF as PDFKit writes it, each as its lines from the top: what is at one height, from the left. */
export function pdfPages(bytes: Buffer): string[][] {
  const found = bytes.toString("latin1").matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g);
  const objects = new Map([...found].map(([, no = "", body = ""]) => [no, body] as const));
  const reference = (body: string, name: string) => new RegExp(`/${name} (\\d+) 0 R`).exec(body)?.[1] ?? "";
  const streamOf = (no: string) => {
    const [, packed = ""] = /stream\n([\s\S]*)\nendstream/.exec(objects.get(no) ?? "") ?? [];
    return inflateSync(Buffer.from(packed, "latin1")).toString("latin1");
  };
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\s/.test(body));
  return pages.map((page) => {
    const resources = objects.get(reference(page, "Resources")) ?? "";
    const fonts = [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = "", no = ""]) => {
      return [name, lettersOf(streamOf(reference(objects.get(no) ?? "", "ToUnicode")))] as const;
    });
    return linesOf(streamOf(reference(page, "Contents")), new Map(fonts));
  });
}

/** The letters of a font by their glyphs. */
function lettersOf(toUnicode: string): Map<string, string> {
  const letters = new Map<string, string>();
  for (const [, from = "", listed = ""] of toUnicode.matchAll(/<(\w{4})> <\w{4}> \[([^\]]*)\]/g)) {
    for (const [at, [, code = ""]] of [...listed.matchAll(/<([\w ]+)>/g)].entries()) {
      const glyph = (Number.parseInt(from, 16) + at).toString(16).padStart(4, "0");
      letters.set(glyph, Buffer.from(code.replaceAll(" ", ""), "hex").swap16().toString("utf16le"));
    }
  }
  return letters;
}

const TEXT = /1 0 0 1 (\S+) (\S+) Tm\n\/(F\d+) \S+ Tf\n\[(.*)\] TJ/g;

function linesOf(content: string, fonts: Map<string, Map<string, string>>): string[] {
  const texts = [...content.matchAll(TEXT)].map(([, x, y, font = "", shown = ""]) => {
    const glyphs = [...shown.matchAll(/<(\w+)>/g)].flatMap(([, run = ""]) => run.match(/.{4}/g) ?? []);
    return { x: Number(x), y: Number(y), text: glyphs.map((one) => fonts.get(font)?.get(one) ?? "?").join("") };
  });
  const heights = Map.groupBy(texts, ({ y }) => Math.round(y));
  const down = [...heights].sort(([one], [other]) => other - one);
  return down.map(([, line]) =>
    line
      .toSorted((one, other) => one.x - other.x)
      .map(({ text }) => text)
      .join(" | "),
  );
}
