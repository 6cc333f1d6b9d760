/** Checks the form of the key of a group or of a role. */
export function isKey(text: string): boolean {
  return /^[a-z0-9][a-z0-9._:/-]{0,62}$/.test(text)
}
