/**
 * Reads what may be of any size, `count` at a time: `read` answers what follows the last one, up to `count`. Each page
 * is a statement of its own, so that none of them takes long or holds a connection while somebody reads slowly.
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

/** The first of these items that are `bytesMax` bytes together at most; the first one however large it is. */
export function takeFitting<Item>(items: Item[], bytesMax: number, bytesOf: (item: Item) => number): Item[] {
  let bytes = 0
  const end = items.findIndex((item, index) => (bytes += bytesOf(item)) > bytesMax && index > 0)
  return end < 0 ? items : items.slice(0, end)
}
