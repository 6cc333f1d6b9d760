import type { Passkey } from '@countersign/protocol/accounts/passkeys'

/** What goes with a passkey that is removed, beside the passkey: the way to the keys, or the keys themselves. */
export type Loss = 'code only' | 'keys'

type Rest = { passkeys: Passkey[]; codeOpensKeys: boolean }

export function lossOf(passkey: Passkey, { passkeys, codeOpensKeys }: Rest): Loss | undefined {
  if (!passkey.opensKeys) return undefined
  if (passkeys.some((other) => other !== passkey && other.opensKeys)) return undefined
  return codeOpensKeys ? 'code only' : 'keys'
}
