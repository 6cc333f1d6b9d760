import { type Read, useReading } from './use-reading.ts'

export type Page<Item> = { items: Item[]; nextCursor: string | null }
export type List<Item> = Read<Page<Item>> & { readMore: () => Promise<void> }

/** Reads the first page of a list, and more on request. */
export function useList<Item>(
  readPage: (cursor?: string) => Promise<Page<Item>>,
  keys: readonly unknown[],
): List<Item> {
  const list = useReading(() => readPage(), keys)
  const readMore = async () => {
    const { value } = list
    if (!value || value.nextCursor === null) return
    const next = await readPage(value.nextCursor)
    list.set({ ...next, items: [...value.items, ...next.items] })
  }
  return { ...list, readMore }
}
