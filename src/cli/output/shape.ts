/** A document as one text: filtered by jq (see `filtered`) or filled into a template (see `filled`). */
export async function shaped(document: object, shape: { jq: string } | { template: string }): Promise<string> {
  if ("jq" in shape) {
    const { filtered } = await import("./jq.ts");
    return filtered(document, shape.jq);
  }
  const { filled } = await import("./template.ts");
  return filled(document, shape.template);
}
