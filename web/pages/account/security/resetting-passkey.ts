import type { Passkey } from '@countersign/protocol/accounts/passkeys'

/** Returns the passkey with which the user can start with new keys, while nothing has unlocked the former ones. */
export function resettingPasskey(passkeys: Passkey[]): Passkey | undefined {
  return passkeys.find(({ mayResetKeys }) => mayResetKeys)
}
