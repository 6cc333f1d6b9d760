/** What this browser keeps from one visit to the next; where it forbids that, nothing. */
export function remembered(key: string): string | null {
  return ifAllowed(() => localStorage.getItem(key))
}

export function remember(key: string, value: string): void {
  ifAllowed(() => localStorage.setItem(key, value))
}

/** A browser that forbids storage throws where it is only looked at; no page needs it so much. */
function ifAllowed<T>(use: () => T): T | null {
  try {
    return use()
  } catch {
    return null
  }
}
