/** Holds the messages for a mailed recovery link. */
export const recoverLinkMessages = {
  redeem: {
    title: 'Recover your account',
    lead: 'Create a passkey on this device. Until it’s valid, your other devices and addresses can stop this.',
    create: 'Create passkey',
    done: (handle: string) => `Passkey for ${handle} created`,
    validFrom: (moment: string) => `You can sign in with it from ${moment}.`,
    validNow: 'You can sign in with it now.',
    keysStayClosed:
      'It doesn’t unlock encrypted data and signing keys. For those, you need your recovery code or another passkey.',
    signIn: 'Sign in',
  },
  stop: {
    title: 'Stop the recovery?',
    lead: 'If you didn’t ask to recover your account, stop it. For seven days, no recovery link works for it.',
    stop: 'Stop this',
    done: 'Recovery stopped',
    doneWhat: 'Your passkeys still work. If you didn’t ask for the link, tell the operator.',
  },
  incomplete: 'This link is incomplete',
  incompleteWhat: 'Open the whole link from the e-mail.',
  problems: {
    used: 'This link has expired or was used. Ask the operator for another one.',
    locked: 'A recovery of this account was stopped. For some days, no link works for it.',
    ended: 'This recovery has already ended.',
  },
}
