import { freePort as freePortOf } from "../../src/daemon/context/addresses.ts";

/** A free port on loopback. */
export const freePort = (): Promise<number> => freePortOf("127.0.0.1");
