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
