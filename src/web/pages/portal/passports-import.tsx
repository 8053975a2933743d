import { type DateOrder, dateOrders } from "../../../core/csv/dates.ts";
import { civilDateAt } from "../../../core/kernel/civil-date.ts";
import { type PassportField, passportNames } from "../../../core/kernel/identity-fields.ts";
import { invalid } from "../../../core/kernel/problem.ts";
import { FILE_LIMITS, readPassportFile } from "../../../core/passports/file.ts";
import { requireAgent } from "../../../core/passports/passport.ts";
import { formShown } from "../../parts/act-form.tsx";
import { CARRIED, carriedIn } from "../../parts/carried.ts";
import { backLink, pageShown } from "../../parts/shown.tsx";
import { encodingField, FILE_FIELD, uploadedText } from "../../parts/upload.ts";
import { portalPage } from "../../session/page.ts";
import { field, optionalField, type PortalVisit, type Shown } from "../../session/visit.ts";
import { poolPage } from "./passports.tsx";
import { fieldOf, IMPORT, mappingShown, type PassportsFile, signatureOf } from "./passports-preview.tsx";
import { download, importShown } from "./passports-result.tsx";

async function uploadPage(visit: PortalVisit): Promise<Shown> {
  await visit.store.read(requireAgent, visit.owner.partnerId);
  return pageShown(visit, "Import passports", [
    <section>
      <p>
        A CSV file of at most {FILE_LIMITS.mebibytes} MiB and {FILE_LIMITS.rows.toLocaleString("en")} rows. Its columns
        may have other names and any order: you choose what is what in the next step, and see every row that is wrong
        before anything is stored. Send larger files in parts, or by the API.
      </p>
      <p>It needs first and last name, date of birth, passport number, issuing country and expiry.</p>
      {formShown(visit, {
        ...{ to: IMPORT, files: true, submit: "Continue" },
        fields: [{ name: FILE_FIELD, label: "File", type: "file", required: true }, encodingField],
      })}
    </section>,
    backLink(visit, "/passports", "All passports"),
  ]);
}

/** The next step: from a file to its columns, from those to the import. */
async function nextStep(visit: PortalVisit): Promise<Shown> {
  const { form, store, owner } = visit;
  await store.read(requireAgent, owner.partnerId);
  if (field(form, CARRIED) === "") return mappingShown(visit, await uploaded(visit));
  const file = await fileIn(visit, columnsIn(visit));
  const { read } = file;
  // What was changed since it was shown is shown before anything is stored.
  const isSeen = field(form, "seen") === signatureOf(read);
  const isReady = read.missing.length === 0 && read.lines.some(({ checked }) => "ok" in checked);
  if (field(form, "step") === "show" || !isSeen || !isReady) return mappingShown(visit, file);
  return importShown(visit, read);
}

async function uploaded({ form, context }: PortalVisit): Promise<PassportsFile> {
  const { text, encoding } = await uploadedText(form, FILE_LIMITS.mebibytes * 1024);
  const today = civilDateAt(context.clock.now());
  return { text, encoding, read: await readPassportFile({ text, today }) };
}

/** Where the form says that the columns are, and how it says that dates are written. Throws `validation`. */
function columnsIn({ form }: PortalVisit) {
  const positions = new Map<PassportField, number>();
  const taken = new Map<number, PassportField>();
  for (const name of passportNames) {
    const chosen = optionalField(form, fieldOf(name));
    if (chosen === undefined) continue;
    const at = /^\d{1,4}$/.test(chosen) ? Number(chosen) : -1;
    const other = taken.get(at);
    if (other !== undefined) throw invalid({ [fieldOf(name)]: [`is the same column as ${other}`] });
    taken.set(at, name);
    positions.set(name, at);
  }
  const dates: DateOrder | null = dateOrders.find((one) => one === field(form, "dates")) ?? null;
  return { positions, dates };
}

/** The file that the form carries, read with these columns. Throws `validation`. */
async function fileIn(visit: PortalVisit, columns: ReturnType<typeof columnsIn>): Promise<PassportsFile> {
  const { text, encoding } = carriedIn(visit, IMPORT) as PassportsFile; // what `mappingShown` carries
  const today = civilDateAt(visit.context.clock.now());
  return { text, encoding, read: await readPassportFile({ text, today, ...columns }) };
}

/** Refusals while columns are chosen show them again; all others, the choice of a file. */
async function again(visit: PortalVisit): Promise<Shown> {
  const isLost = field(visit.form, CARRIED) === "" || visit.problem?.errors?.[FILE_FIELD] !== undefined;
  if (isLost) return uploadPage(visit);
  return mappingShown(visit, await fileIn(visit, { positions: new Map(), dates: null }));
}

const write = { needs: "passports.write" } as const;

export const passportImportPages = [
  portalPage({ path: IMPORT, ...write, show: poolPage(uploadPage), act: nextStep, again }),
  portalPage({ path: `${IMPORT}/rejected`, ...write, act: download }),
];
