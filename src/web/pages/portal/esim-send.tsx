import type { ComponentChildren } from "preact";
import { sendableEsim } from "../../../core/after-sale/sendable-esim.ts";
import { travelerMailMoment } from "../../../core/after-sale/traveler-mails.ts";
import { namesForPartner } from "../../../core/find/stories.ts";
import { shownMoments, type TimelineMoment } from "../../parts/timeline.tsx";
import { portalPage } from "../../session/page.ts";
import { type PortalVisit, partIn } from "../../session/visit.ts";
import { sendPage, sentOf, sentShown } from "../esim-send.tsx";
import { asNotFound } from "./own-pages.ts";

/** The mails of an own eSIM to its traveler, as a section and as moments of its history. */
export async function sendingShown(
  visit: PortalVisit,
  iccid: string,
): Promise<{ shown: ComponentChildren; moments: TimelineMoment[] }> {
  const { store, owner } = visit;
  const sent = await store.read(sentOf, { iccid, owner });
  const names = await store.read(namesForPartner, { owner, actors: sent.mails.map((mail) => mail.created_by) });
  const shown = sentShown(visit, sent, { names, other: "the operator", may: visit.may("esims.write") });
  return { shown, moments: shownMoments(sent.mails.map(travelerMailMoment)) };
}

const page = sendPage<PortalVisit>({
  ownerOf: (visit) => visit.owner,
  // An eSIM of another is not there.
  read: (visit) =>
    visit.store.read(sendableEsim, { iccid: partIn(visit, "iccid"), owner: visit.owner }).catch(asNotFound),
});

/** Sends an own eSIM to its traveler. */
export const esimSendPages = [portalPage({ ...page, needs: "esims.write" })];
