import qrcode from "qrcode";

/** `text` as a QR code of half blocks, light on dark as terminals are, with its quiet zone. */
export async function drawQr(text: string): Promise<string> {
  const drawn = await qrcode.toString(text, { type: "utf8", errorCorrectionLevel: "M" });
  return drawn.trimEnd();
}
