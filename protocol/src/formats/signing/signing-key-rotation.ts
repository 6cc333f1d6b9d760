type Rotation = { identityId: string; publicKey: string; encryptedPrivateKey: string }

/** What the current key signs to give way to a new one: compact JSON, the fields in this order (interface §4.2). */
export function rotationMessage({ identityId, publicKey, encryptedPrivateKey }: Rotation): string {
  const details = { identityId, publicKey, encryptedPrivateKey }
  return JSON.stringify({ version: 1, action: 'signing_key.rotated', details })
}
