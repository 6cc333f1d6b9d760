type Entry<Value> = { asked: Promise<Value>; value?: Value; freshUntil: number }

type Limits<Value> = {
  entriesMax: number
  /** Until when an answer may be given again, as `Date.now()` counts. */
  freshUntil: (value: Value) => number
}

/**
 * Remembers answers by a key until they are stale. Who asks what somebody else is asking waits for the same answer. A
 * failure is not remembered, and where there is too much to remember the oldest goes.
 */
export function createMemory<Value>({ entriesMax, freshUntil }: Limits<Value>) {
  const entries = new Map<string, Entry<Value>>()

  /** Runs before anybody hears of the answer. */
  function keep(key: string, entry: Entry<Value>): void {
    entries.delete(key)
    entries.set(key, entry)
    const [oldest = key] = entries.keys()
    if (entries.size > entriesMax) entries.delete(oldest)
    entry.asked.then(
      (value) => Object.assign(entry, { value, freshUntil: freshUntil(value) }),
      () => entries.get(key) === entry && entries.delete(key),
    )
  }

  return {
    recall(key: string, ask: () => Promise<Value>): Promise<Value> {
      const known = entries.get(key)
      if (known && Date.now() < known.freshUntil) return known.asked
      const entry: Entry<Value> = { asked: ask(), freshUntil: Number.POSITIVE_INFINITY }
      keep(key, entry)
      return entry.asked
    },
    forget(isMeant: (value: Value) => boolean): void {
      for (const [key, { value }] of entries) if (value !== undefined && isMeant(value)) entries.delete(key)
    },
  }
}
