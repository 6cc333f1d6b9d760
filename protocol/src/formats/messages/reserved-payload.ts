/**
 * Checks if a text could be a message that Countersign itself has a signing key sign: an act in an organization
 * (`signed-action.ts`), or a key rotation (`signing-key-rotation.ts`). Each is verified over the exact bytes of its
 * formatter, which start with this prefix, so no other spelling counts.
 */
export function isReservedPayload(payload: string): boolean {
  return payload.startsWith('{"version":')
}
