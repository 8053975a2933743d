/** Whether `text` is an absolute http(s) address without a login in it. */
export function isPlainHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
