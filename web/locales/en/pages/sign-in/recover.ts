/** Holds the messages for recovering an account. */
export const recoverMessages = {
  title: 'Use your recovery code',
  lead: 'The code works once. This device gets a new passkey, and you are signed out everywhere else.',
  begin: 'Continue',
  handleMissing: 'Enter your username.',
  noMatch: 'Username and recovery code don’t match. Codes stop working once used or replaced.',
  locked: 'Too many wrong codes. Try again in an hour.',
  unopened: 'You’re signed in, but this code couldn’t unlock your keys. They haven’t changed.',
  goOn: 'Go to your account',
  foundPasskey: 'Found your passkey?',
  restored: 'You’re back in',
  restoredLead: 'The old code no longer works. Here is your new one. Remove lost passkeys under Security.',
}
