/** Whether an EID's last two digits are right for the others: all 32 as one number leave 1 over 97 (SGP.02). */
export function eidValid(eid: string): boolean {
  return /^\d{32}$/.test(eid) && BigInt(eid) % 97n === 1n;
}
