import type { ComponentChildren } from "preact";
import { sendToTraveler, sendToTravelerByForm } from "../../core/after-sale/send-to-traveler.ts";
import { type SendableEsim, sendableEsim } from "../../core/after-sale/sendable-esim.ts";
import { recipientWords, type TravelerMail, travelerMailsOf } from "../../core/after-sale/traveler-mails.ts";
import type { Actor } from "../../core/audit/record.ts";
import { maskedEmail } from "../../core/kernel/masked.ts";
import type { Owner } from "../../core/kernel/owner.ts";
import { invalid } from "../../core/kernel/problem.ts";
import type { Read } from "../../core/store/store.ts";
import type { FieldOf } from "../parts/act-form.tsx";
import { actPage } from "../parts/act-page.tsx";
import type { Column } from "../parts/list.tsx";
import { links, table } from "../parts/shown.tsx";
import { choiceField, field, requiredField, type SignedInVisit } from "../session/visit.ts";

const pathOf = (iccid: string) => `/esims/${iccid}`;

/** What was sent of an eSIM so far, and why it is not sent now; of this owner's, or of any. */
export async function sentOf(q: Read, asked: { iccid: string; owner: Owner | null }) {
  const { esim, refusal } = await sendableEsim(q, asked);
  const mails = await travelerMailsOf(q, { esimId: esim.id, partnerId: esim.partner_id });
  return { esim, refusal, mails };
}

const columns = (names: ReadonlyMap<Actor, string>, other: string): Column<TravelerMail>[] => [
  { title: "To", cell: recipientWords },
  { title: "Mail", cell: ({ status }) => ({ status }) },
  { title: "Asked for", cell: ({ created_at }) => ({ time: created_at }) },
  { title: "By", cell: ({ created_by }) => names.get(created_by) ?? (other || created_by) },
  { title: "Ended", cell: ({ ended_at }) => ({ time: ended_at }) },
  { title: "Why not", cell: ({ reason }) => reason },
];

/** The mails of an eSIM with the way to another one. `other` is who acted where no name is known; "": the actor. */
export function sentShown(
  visit: SignedInVisit,
  { esim, refusal, mails }: Awaited<ReturnType<typeof sentOf>>,
  { names, other = "", may }: { names: ReadonlyMap<Actor, string>; other?: string; may: boolean },
): ComponentChildren {
  const isSandbox = esim.environment === "sandbox";
  const way = may && refusal === null && links(visit, [[`${pathOf(esim.iccid)}/send`, "Send to the traveler"]]);
  const why = may && isSandbox && refusal !== null && <p class="hint">{refusal}</p>;
  if (mails.length === 0 && !way && !why) return null;
  return (
    <section>
      <h2>Sent to the traveler</h2>
      {table(visit, { caption: "Mails to the traveler, newest first", rows: mails }, columns(names, other))}
      {way}
      {why}
    </section>
  );
}

const AT_MOST_A_MINUTE =
  "This node sends no mail. Unless another one does, the page of the eSIM says within a minute that it was not sent.";

function fieldsOf({ customer }: SendableEsim, { context }: SignedInVisit): FieldOf[] {
  const address = { name: "address", label: "E-mail address", type: "email", autocomplete: "off" } as const;
  return [
    context.mail === "perhaps" && AT_MOST_A_MINUTE,
    customer !== null && {
      ...{ name: "to", label: "To", required: true },
      options: [
        ["customer", `the customer of the order (${maskedEmail(customer)})`],
        ["address", "another address"],
      ],
    },
    customer === null ? { ...address, required: true } : { ...address, hint: "Only for another address." },
  ];
}

/** The address that is meant; null: the customer's. Throws `validation`. */
function addressIn({ form }: SignedInVisit, { customer }: SendableEsim): string | null {
  if (customer === null || choiceField(form, "to", ["customer", "address"]) === "address") {
    return requiredField(form, "address");
  }
  const other = "is filled in, but the customer of the order is chosen: do one of them";
  if (field(form, "address") !== "") throw invalid({ address: [other] });
  return null;
}

/** What keeps an eSIM from being sent from here at all; null: nothing does. */
function hindranceOf({ refusal }: SendableEsim, { context }: SignedInVisit): string | null {
  const none = "No mail server is set here, so that no mail goes out: give the traveler the link of the install page.";
  return refusal ?? (context.mail === "none" ? none : null);
}

/** The page that sends an eSIM of an owner, or of any, to its traveler by mail; `read` finds it. */
export function sendPage<V extends SignedInVisit>({
  ownerOf,
  read,
}: {
  ownerOf(visit: V): Owner | null;
  read(visit: V): Promise<SendableEsim>;
}) {
  const page = actPage<V, SendableEsim, Parameters<typeof sendToTraveler>[1], TravelerMail>({
    ...{ verb: "send", button: "Send", command: sendToTraveler, keyed: sendToTravelerByForm, read },
    at: ({ esim }) => pathOf(esim.iccid),
    title: ({ esim }) => `Send eSIM ${esim.iccid} to its traveler`,
    hindrance: hindranceOf,
    fields: fieldsOf,
    input: (visit, seen) => ({ iccid: seen.esim.iccid, owner: ownerOf(visit), to: addressIn(visit, seen) }),
    foresee: ({ to, to_customer }, { product }, { form }) => (
      <p>
        A mail with the link that installs {product} goes to{" "}
        {to_customer ? `the customer of the order (${to})` : field(form, "address")}. Who has the link can install it.
      </p>
    ),
    done: ({ to }) => `The mail to ${to} waits to be sent: this page says what becomes of it.`,
  });
  return { path: "/esims/:iccid/send", ...page };
}
