/**
 * What a member signs by whom an act in an organization is to be attributed: compact JSON, as for the rotation of a
 * key. `details` are the parameters of the path, then the fields of the body, each in the order of the interface.
 */
export function signedActionMessage(action: string, details: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ version: 1, action, details })
}
