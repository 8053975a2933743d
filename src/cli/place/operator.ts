/** The actor that the audit trail records for commands on local data. */
export const OPERATOR = operatorName(process.env.SUDO_USER);

/** Several people may share the account that holds the data: behind sudo the audit trail distinguishes them. */
function operatorName(sudoUser: string | undefined): string {
  return sudoUser !== undefined && /^[\w.-]{1,64}$/.test(sudoUser) ? `operator (${sudoUser})` : "operator";
}
