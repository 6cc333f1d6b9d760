/** Pattern of an identity's username: 3 to 32 of `a-z A-Z 0-9 _ - .`, with a letter or digit at both ends. */
export const handlePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{1,30}[A-Za-z0-9]$'

const handle = new RegExp(handlePattern)

export function isHandle(text: string): boolean {
  return handle.test(text)
}

/** Normalizes a handle for comparison; handles are shown as typed. */
export function normalizeHandle(text: string): string {
  return text.toLowerCase()
}
