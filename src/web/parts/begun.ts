/** The same, once the first is there, so that what is refused before it is refused in words; null: there is none. */
export async function begun<T>(all: AsyncGenerator<T>): Promise<AsyncGenerator<T> | null> {
  const first = await all.next();
  if (first.done === true) return null;
  async function* whole(start: T) {
    yield start;
    yield* all;
  }
  return whole(first.value);
}
