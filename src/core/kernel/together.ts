/**
 * Waits for work that goes on at the same time, as statements that do not need each other's results do: they share a
 * round trip to the database. When some of it fails, all of it has ended before the first failure, in the order given,
 * is thrown: no statement is left to be sent after the command.
 */
export async function together<T extends readonly unknown[]>(...work: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  try {
    // Each is the value of the work at its place.
    return (await Promise.all(work)) as unknown as T;
  } catch {
    const ended = await Promise.allSettled(work);
    const failed = ended.find((outcome) => outcome.status === "rejected");
    throw failed?.reason;
  }
}
