/** Something before and after one @, and nothing that would make it several: the mail server decides the rest. */
const MAILBOX = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;

/** Whether a mail can go to this text, as to one mailbox. */
export function isMailbox(address: string): boolean {
  return address.length <= 254 && MAILBOX.test(address);
}
