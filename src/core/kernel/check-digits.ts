/** The Luhn check digit that belongs behind `digits` (ITU-T E.118 uses it for ICCIDs). */
export function luhnDigit(digits: string): string {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const value = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 0 ? value * 2 : value;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return String((10 - (sum % 10)) % 10);
}

/** Whether the last of `digits` is the right Luhn digit for the others. */
export function luhnValid(digits: string): boolean {
  return /^\d{2,}$/.test(digits) && luhnDigit(digits.slice(0, -1)) === digits.at(-1);
}

/** Whether an EID's last two digits are right for the others: all 32 as one number leave 1 over 97 (SGP.02). */
export function eidValid(eid: string): boolean {
  return /^\d{32}$/.test(eid) && BigInt(eid) % 97n === 1n;
}
