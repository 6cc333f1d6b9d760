/**
 * Reads a list of any size in pages of `count` items: `read` returns the items after the last one. Each page is a
 * separate statement, so that none takes long or occupies a connection while a client reads slowly.
 */
export async function* readPages<Item>(
  count: number,
  read: (last: Item | undefined, count: number) => Promise<Item[]>,
): AsyncGenerator<Item[]> {
  for (let last: Item | undefined; ;) {
    const items = await read(last, count)
    if (items.length > 0) yield items
    if (items.length < count) return
    last = items.at(-1)
  }
}

/** Returns the first items with at most `bytesMax` bytes in total, and at least one of any size. */
export function takeFitting<Item>(items: Item[], bytesMax: number, bytesOf: (item: Item) => number): Item[] {
  let bytes = 0
  const end = items.findIndex((item, index) => (bytes += bytesOf(item)) > bytesMax && index > 0)
  return end < 0 ? items : items.slice(0, end)
}
