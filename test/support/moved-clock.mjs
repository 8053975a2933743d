// Loaded into a process by NODE_OPTIONS: its clock shows the machine's time plus the milliseconds that the file named
// by MOVED_CLOCK holds, as after a wrong or corrected setting of the clock.
import { readFileSync } from "node:fs";

const file = process.env.MOVED_CLOCK ?? "";
const real = Date.now;
let offset = 0;
let readAt = Number.NEGATIVE_INFINITY;

function moved() {
  const now = real();
  if (now - readAt > 20) {
    readAt = now;
    offset = Number(readFileSync(file, "utf8"));
  }
  return now + offset;
}

Date.now = moved;
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [moved()] : parts));
  }
};
