import { disableUser, enableUser, type InRole } from "../../core/accounts/change-user.ts";
import { resetUser } from "../../core/accounts/invite.ts";
import type { User } from "../../core/accounts/user.ts";
import type { PartnerId, UserId } from "../../core/kernel/brand.ts";
import type { Command } from "../../core/store/store.ts";
import type { SignedInVisit } from "../session/visit.ts";

/** What is done to a person by a button. */
export interface PersonAct<N extends PartnerId | null> {
  /** The end of its address. */
  verb: string;
  label: string;
  bad?: boolean;
  /** What comes of it, which is confirmed first; left out: it is done at once. */
  asks?: string;
  /** What is asked, before whom it is about; left out: the first word of its label. */
  question?: string;
  offered(user: User, visit: SignedInVisit): boolean;
  /** Where it answers an invitation, its link is shown. */
  command: Command<Omit<InRole, "partnerId"> & { partnerId: N; by: UserId }, unknown>;
  /** What the person is then. */
  done: string;
  /** The person is no longer listed. */
  leaves?: true;
}

const ends = "Sessions and open invitations of this person end at once, at every partner, until it is enabled.";
/** What comes of a new invitation. */
export const invitedAgain =
  "Password, second factors, recovery codes and sessions of this person end at once; there is a new link.";
const isOff = ({ status }: User) => status === "disabled";
const isOn = (user: User) => !isOff(user);
const disabling = { verb: "disable", label: "Disable", bad: true, asks: ends };

/** What the operator does: disables a person, enables one again, and gives a new invitation. */
export const operatorActs: readonly PersonAct<PartnerId | null>[] = [
  { verb: "enable", label: "Enable", offered: isOff, command: enableUser, done: "is enabled" },
  {
    verb: "reset",
    label: "Reset and invite again",
    asks: invitedAgain,
    offered: isOn,
    command: resetUser,
    done: "is reset",
  },
  { ...disabling, offered: isOn, command: disableUser, done: "is disabled" },
];
