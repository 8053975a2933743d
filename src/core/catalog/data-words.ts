import { counted } from "../kernel/counted.ts";
/** "5 GB", "500 MB": a plan's data in binary steps, as plans are sold. */
export function dataWords(mb: number): string {
  return mb >= 1024 && mb % 512 === 0 ? `${mb / 1024} GB` : `${mb} MB`;
}

/** "1 day", "30 days". */
export function dayWords(days: number): string {
  return counted(days, "day");
}
