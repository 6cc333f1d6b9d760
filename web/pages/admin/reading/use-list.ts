import { type Read, useReading } from './use-reading.ts'

export type Page<Item> = { items: Item[]; nextCursor: string | null }
export type List<Item, More = unknown> = Read<Page<Item> & More> & { readMore: () => Promise<void> }

/** Reads the first page of a list, and more on request. A page may have `More` fields: the last one's count. */
export function useList<Item, More = unknown>(
  readPage: (cursor?: string) => Promise<Page<Item> & More>,
  keys: readonly unknown[],
): List<Item, More> {
  const list = useReading(() => readPage(), keys)
  const readMore = async () => {
    const { value } = list
    if (!value || value.nextCursor === null) return
    const next = await readPage(value.nextCursor)
    list.update(({ items }) => ({ ...next, items: [...items, ...next.items] }))
  }
  return { ...list, readMore }
}
