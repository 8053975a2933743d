import type { Frame } from "./profile.ts";

const WIDTH = 1200;
const ROW = 16;
const TITLE = 28;
/** The width of a letter in the font of the labels. */
const LETTER = 6.2;
/** What is narrower than half a pixel is left out. */
const LEAST = 0.5;

/** Frames as an SVG without scripts: below each function what it called, as wide as the time it took. */
export function flameGraph(root: Frame, title: string): string {
  const bars: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const width = (frame.total / root.total) * WIDTH;
    if (width < LEAST) return;
    deepest = Math.max(deepest, depth);
    bars.push(bar(frame, { x, y: TITLE + depth * ROW, width, share: frame.total / root.total }));
    let left = x;
    for (const callee of [...frame.callees.values()].sort((one, other) => other.total - one.total)) {
      draw(callee, left, depth + 1);
      left += (callee.total / root.total) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = TITLE + (deepest + 1) * ROW + 4;
  const box = `viewBox="0 0 ${WIDTH} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="monospace" font-size="10">
<title>${escaped(title)}</title>
<style>rect{stroke:#fff;stroke-width:.5}.s{fill:#f0a35e}.p{fill:#8fb8de}.n{fill:#a9cf8f}.v{fill:#ccc}</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="4" y="18" font-size="13">${escaped(title)}</text>
${bars.join("\n")}
</svg>
`;
}

interface Bar {
  x: number;
  y: number;
  width: number;
  share: number;
}

function bar({ name, place }: Frame, { x, y, width, share }: Bar): string {
  const label = escaped(name.slice(0, Math.max(0, Math.floor((width - 4) / LETTER))));
  const text = width < 20 ? "" : `<text x="${short(x + 2)}" y="${y + 11}">${label}</text>`;
  const words = [name, place, `${(share * 100).toFixed(1)} %`].filter((part) => part !== "").join(", ");
  const box = `x="${short(x)}" y="${y}" width="${short(width)}" height="${ROW}"`;
  return `<g><title>${escaped(words)}</title><rect class="${kindOf(place)}" ${box}/>${text}</g>`;
}

/** Its color: our sources, packages, Node's own modules, or V8 and native code. */
function kindOf(place: string): "s" | "p" | "n" | "v" {
  if (place === "") return "v";
  if (place.startsWith("src/")) return "s";
  return place.startsWith("node:") ? "n" : "p";
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
