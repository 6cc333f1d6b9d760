/** Holds the messages for registering, signing in to the account and recovering it. */
export const registerMessages = {
  register: {
    title: 'Create an account',
    lead: 'Pick a username. Your device creates a passkey, so there is no password.',
    handle: 'Username',
    handleHint: '3 to 32 letters, digits, dots, hyphens or underscores',
    displayName: 'Display name',
    create: 'Create account',
    haveAccount: 'Already have an account?',
    login: 'Sign in',
    handleInvalid: 'Use 3 to 32 letters, digits, dots, hyphens or underscores. Start and end with a letter or digit.',
    displayNameInvalid: 'Enter a display name of up to 80 characters.',
    handleTaken: 'That username is taken. Try another one.',
    madeTitle: 'Your passkey is ready',
    touchAgainWhy: 'Use it once more to unlock your encryption keys.',
    touchAgain: 'Use passkey again',
    withoutPrf: 'Continue with the recovery code only',
    unfinished: 'Almost done',
    finish: 'Finish',
    startOver: 'Start over',
  },

  recovery: {
    title: 'Save your recovery code',
    why:
      'If you lose your passkeys, this code is the only way back into your account. We never see it and can’t ' +
      'replace it.',
    whyWithoutPrf:
      'This passkey can sign you in but can’t unlock your keys, so you’ll need this code for that. We never see it ' +
      'and can’t replace it.',
    label: 'Recovery code',
    download: 'Download',
    print: 'Print',
    saved: 'I’ve saved it',
    fileName: 'countersign-recovery-code.txt',
    fileText: (code: string, host: string, handle: string) =>
      `Countersign recovery code\n\n${code}\n\nAccount: ${handle}\nSite: ${host}\n\nUse this code to get back into ` +
      'your account and unlock your keys if you lose your passkeys. Keep it away from this device.\n',
  },

  login: {
    title: 'Sign in',
    handle: 'Username',
    handleHint: 'Optional. Your passkey already knows your account.',
    signIn: 'Sign in with a passkey',
    newHere: 'New here?',
    register: 'Create an account',
    noPasskey: 'Lost your passkeys?',
    recover: 'Use your recovery code',
    atWork: 'Signing in for work?',
    withOrganization: 'Sign in with your organization (SSO)',
    proveTitle: 'Confirm it’s you',
    prove: 'Confirm with passkey',
  },

  recover: {
    title: 'Use your recovery code',
    lead: 'The code works once. This device gets a new passkey, and you are signed out everywhere else.',
    begin: 'Continue',
    handleMissing: 'Enter your username.',
    noMatch: 'Username and recovery code don’t match. Codes stop working once used or replaced.',
    locked: 'Too many wrong codes. Try again in an hour.',
    unopened: 'You’re signed in, but this code couldn’t unlock your keys. They haven’t changed.',
    goOn: 'Go to your account',
  },
}
