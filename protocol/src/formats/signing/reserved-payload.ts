/**
 * Whether a text could be one of the messages that Countersign itself has a signing key sign: that an act in an
 * organization is done (`signed-action.ts`), or that a key gives way to another (`signing-key-rotation.ts`). Each is
 * verified over exactly the bytes that its writer makes, which begin like this, so that no other spelling counts.
 */
export function isReservedPayload(payload: string): boolean {
  return payload.startsWith('{"version":')
}
