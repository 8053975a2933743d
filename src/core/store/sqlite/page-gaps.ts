import { fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";

/** Pages that are read at a time. */
const AT_A_TIME = 1024;
const LARGEST_PAGE = 65_536;
const ZEROS = Buffer.alloc(LARGEST_PAGE);

/** Bytes of the header before the first page's own, and of a b-tree page's own by its kind. */
const FILE_HEADER = 100;
const headerSizes: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };

/** From this page on, the first byte of a page that is not of a b-tree may be that of one that is. */
export const FIRST_AMBIGUOUS_PAGE = 2 ** 25;

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/** A database file for reading and writing outside of SQLite. */
export interface PageFile {
  descriptor: number;
  pageSize: number;
  /** Bytes of a page that SQLite uses. */
  usable: number;
}

// Closing any descriptor of a file drops all locks that SQLite holds on it in this process, so they stay open.
const descriptors = new Map<string, number>();

/** Opens a database file; the descriptor is kept for the life of the process. */
export function openPages(file: string): PageFile {
  const { dev, ino } = statSync(file);
  const name = `${dev} ${ino}`;
  const descriptor = descriptors.get(name) ?? openSync(file, "r+");
  descriptors.set(name, descriptor);
  const header = Buffer.alloc(FILE_HEADER);
  readSync(descriptor, header, 0, FILE_HEADER, 0);
  const size = header.readUInt16BE(16);
  const pageSize = size === 1 ? LARGEST_PAGE : size;
  return { descriptor, pageSize, usable: pageSize - header.readUInt8(20) };
}

/** How many pages a file has. */
export function pagesOf({ descriptor, pageSize }: PageFile): number {
  return Math.floor(fstatSync(descriptor).size / pageSize);
}

/**
 * Overwrites the unused middle of b-tree pages with zeros, from a page on and as many as are read at a time. SQLite
 * never reads these bytes. Answers the page to go on with. Nothing else may write to the file meanwhile.
 */
export function clearGaps(file: PageFile, from: number): number {
  const { descriptor, pageSize } = file;
  const buffer = Buffer.allocUnsafe(AT_A_TIME * pageSize);
  const read = readSync(descriptor, buffer, 0, buffer.length, (from - 1) * pageSize);
  const count = Math.floor(read / pageSize);
  for (let at = 0; at < count; at += 1) {
    clearGap(file, from + at, buffer.subarray(at * pageSize, (at + 1) * pageSize));
  }
  return from + Math.max(count, 1);
}

/** The same for these pages; some may be beyond the end of the file. */
export function clearGapsOf(file: PageFile, pages: Iterable<number>): void {
  const { descriptor, pageSize } = file;
  const page = Buffer.allocUnsafe(pageSize);
  for (const number of pages) {
    if (readSync(descriptor, page, 0, pageSize, (number - 1) * pageSize) === pageSize) clearGap(file, number, page);
  }
}

function clearGap({ descriptor, pageSize, usable }: PageFile, number: number, page: Buffer): void {
  const gap = gapOf(page, number === 1 ? FILE_HEADER : 0, usable);
  if (gap === null) return;
  const length = gap.end - gap.start;
  if (page.subarray(gap.start, gap.end).equals(ZEROS.subarray(0, length))) return;
  writeSync(descriptor, ZEROS, 0, length, (number - 1) * pageSize + gap.start);
}

/** The bytes between the cell pointers and the cells of a b-tree page; null for any other page. */
function gapOf(page: Buffer, header: number, usable: number): { start: number; end: number } | null {
  const size = headerSizes[page.readUInt8(header)];
  if (size === undefined) return null;
  const cells = page.readUInt16BE(header + 3);
  const end = page.readUInt16BE(header + 5) || LARGEST_PAGE;
  const pointers = header + size;
  const start = pointers + 2 * cells;
  if (start > end || end > usable) return null;
  for (let at = pointers; at < start; at += 2) {
    const cell = page.readUInt16BE(at);
    if (cell < end || cell >= usable) return null;
  }
  return { start, end };
}

/** The numbers of all pages that a write-ahead log holds, also those of an earlier use of the file. */
export function pagesInWal(descriptor: number, pageSize: number): Set<number> {
  const pages = new Set<number>();
  const { size } = fstatSync(descriptor);
  const frame = Buffer.alloc(FRAME_HEADER);
  for (let at = WAL_HEADER; at + FRAME_HEADER <= size; at += FRAME_HEADER + pageSize) {
    readSync(descriptor, frame, 0, FRAME_HEADER, at);
    pages.add(frame.readUInt32BE(0));
  }
  return pages;
}
