/** What a supplier's mail may contain of an item. */
export interface MailFacts {
  reference: string;
  order_number: string;
  product_name: string;
  product_sku: string;
  quantity: string;
  customer_name: string;
  customer_email: string;
  customer_phone: string;
  activation_date: string;
  timezone: string;
  eid_number: string;
  selected_plan_id: string;
}

const names: readonly (keyof MailFacts)[] = [
  "reference",
  "order_number",
  "product_name",
  "product_sku",
  "quantity",
  "customer_name",
  "customer_email",
  "customer_phone",
  "activation_date",
  "timezone",
  "eid_number",
  "selected_plan_id",
];

/** Used if the operator set no template. */
export const STANDARD_TEMPLATE = `Subject: Activation {{activation_date}}: {{product_sku}}, order {{order_number}}

Please activate this plan on {{activation_date}} ({{timezone}}).

Product:    {{product_name}} ({{product_sku}})
Order:      {{order_number}}
Reference:  {{reference}}

Name:       {{customer_name}}
E-mail:     {{customer_email}}
Phone:      {{customer_phone}}
EID:        {{eid_number}}
Plan:       {{selected_plan_id}}

Quote the reference in your answer. The same reference always means the same activation.
`;

const SLOT = /\{\{\s*([a-z_]+)\s*\}\}/g;

/** Why a template is invalid; null: it is valid. Its first line is the subject, the second is empty. */
export function templateFault(template: string): string | null {
  if (!/^Subject: ?\S[^\r\n]*\r?\n\r?\n/.test(template)) {
    return 'must begin with a line "Subject: …" and an empty line';
  }
  const known: readonly string[] = names;
  const unknown = [...template.matchAll(SLOT)].flatMap(([, name]) => (name && !known.includes(name) ? [name] : []));
  return unknown.length === 0 ? null : `knows ${names.join(", ")}; not ${[...new Set(unknown)].join(", ")}`;
}

/** A template with its slots filled: subject and body. What an item does not have is a hyphen. */
export function renderMail(template: string, facts: MailFacts): { subject: string; text: string } {
  // Facts stay on their line: a name with a line break in it must become neither a header nor a line of its own.
  const filled = (text: string) =>
    text.replaceAll(SLOT, (_, slot: string) => {
      const name = names.find((each) => each === slot);
      return (name === undefined ? "" : facts[name].replaceAll(/\s+/g, " ")) || "-";
    });
  const [head = "", ...rest] = template.replaceAll("\r\n", "\n").split("\n\n");
  const subject = filled(head.replace(/^Subject: ?/, ""));
  return { subject, text: filled(rest.join("\n\n")) };
}
