/**
 * Builds the message that a member signs for an act in an organization: compact JSON, like the rotation of a key.
 * `details` are the parameters of the path, then the fields of the body, each in the order of the interface.
 */
export function signedActionMessage(action: string, details: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ version: 1, action, details })
}

type Rotation = { identityId: string; publicKey: string; encryptedPrivateKey: string }

/**
 * Builds the message that the current key signs to rotate to a new one: compact JSON, the fields in this order
 * (interface §4.2).
 */
export function rotationMessage({ identityId, publicKey, encryptedPrivateKey }: Rotation): string {
  const details = { identityId, publicKey, encryptedPrivateKey }
  return JSON.stringify({ version: 1, action: 'signing_key.rotated', details })
}
