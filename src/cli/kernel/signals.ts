/** Launchers (npm, bin/esimctl under an older Node) forward a terminal's signal: it arrives twice at once. */
const ECHO_MS = 500;

/** To be called at the first signal: calls `again` when a person sends one of them a second time. */
export function onSecondSignal(names: readonly NodeJS.Signals[], again: () => void): void {
  const first = performance.now();
  for (const name of names) {
    process.on(name, () => {
      if (performance.now() - first > ECHO_MS) again();
    });
  }
}
