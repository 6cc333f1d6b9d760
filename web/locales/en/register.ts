/** Holds the messages for registering, signing in to the account and recovering it. */
export const registerMessages = {
  register: {
    title: 'Create an account',
    lead: 'Pick a username. Your device creates a passkey, so there is no password.',
    steps: 'Steps of the registration',
    username: 'Username',
    passkey: 'Passkey',
    recoveryCode: 'Recovery code',
    handle: 'Username',
    handleRule: 'Use 3 to 32 letters (a–z), digits, dots, hyphens or underscores.',
    handleAvailable: 'This username is available.',
    displayName: 'Display name',
    create: 'Create account',
    haveAccount: 'Already have an account?',
    login: 'Sign in',
    handleEnds: 'Start and end with a letter or digit.',
    displayNameInvalid: 'Enter a name of up to 80 characters.',
    handleTaken: 'That username is taken. Try another one.',
    madeTitle: 'Your passkey is ready',
    touchAgainWhy: 'Use it once more to unlock your encryption keys.',
    touchAgain: 'Use passkey again',
    withoutPrf: 'Continue with the recovery code only',
    unfinished: 'Almost done',
    unfinishedLead: 'Your passkey exists, but your account isn’t ready yet.',
    finish: 'Finish',
    startOver: 'Start over',
    presentTitle: 'You’re already signed in',
    presentLead: 'This browser is signed in to the account of',
    continueAs: (name: string) => `Continue as ${name}`,
    createAnother: 'Sign out and create another account',
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
    kept: {
      copied: 'Copied. Paste it somewhere safe, such as a password manager.',
      downloaded: 'Downloaded. Move the file to a safe place that isn’t this device.',
      printed: 'Keep the printed page in a safe place.',
    },
    saved: 'I’ve saved it',
    savedAndContinue: 'I’ve saved it, continue',
    savedAndContinueTo: (app: string) => `I’ve saved it, continue to ${app}`,
    countsOnce: 'The code takes effect when you confirm that you’ve saved it.',
    fileName: 'recovery-code.txt',
    fileText: (code: string, host: string, handle: string, service: string) =>
      `${service} recovery code\n\n${code}\n\nAccount: ${handle}\nSite: ${host}\n\nUse this code to get back into ` +
      'your account and unlock your keys if you lose your passkeys. Keep it away from this device.\n',
    printedAccount: 'Account',
    printedSite: 'Site',
    printedOn: 'Created',
    printedUse:
      'Use this code to get back into your account and unlock your keys if you lose your passkeys. Keep it away from ' +
      'the devices you sign in with.',
    missingTitle: 'Your recovery code isn’t saved yet',
    missing:
      'If you lose your passkeys, you lose your account: you have no recovery code that works. Your passkey creates ' +
      'a new one in a moment.',
    create: 'Create recovery code',
    exists: 'A recovery code is already saved',
    existsWhy: 'You saved a code in another window or on another device. That one counts. The code shown here doesn’t.',
    continue: 'Continue',
    later: 'Later',
    keysGone: 'Your keys can’t be found',
    keysGoneWhy:
      'This service says that your account has no keys, but it had some before. Nothing was replaced. Contact the ' +
      'operator of this service.',
  },

  login: {
    title: 'Sign in',
    handle: 'Username or work e-mail',
    handleHint: 'Optional: your passkey knows your account.',
    workHint: 'A work address takes you to your company’s sign-in.',
    signIn: 'Sign in with a passkey',
    anotherPasskey: 'Use another passkey',
    withSso: 'Continue with your company',
    continueAs: (name: string) => `Continue as ${name}`,
    lastHere: 'used in this browser before',
    forget: (name: string) => `Forget ${name} in this browser`,
    forgotten: (name: string) => `This browser no longer shows ${name}.`,
    or: 'or',
    elsewhere: 'My passkey is on another device',
    elsewhereHow:
      'Start the sign-in, choose “phone or tablet” in your browser’s dialog, and scan the code it shows. Keep ' +
      'Bluetooth on.',
    unsupported: 'This browser can’t use passkeys',
    unsupportedHow: 'Update it, or open this page in another browser or on another device.',
    newHere: 'New here?',
    register: 'Create an account',
    noPasskey: 'Lost your passkeys?',
    recover: 'Use a recovery code',
    atWork: 'Signing in for work?',
    withOrganization: 'Sign in with your organization (SSO)',
    proveTitle: 'Confirm it’s you',
    proveLead: 'You’re about to change something important. Use your passkey once more.',
    prove: 'Confirm with passkey',
    continueTo: (app: string) => `To continue to ${app}`,
    unknownDomain: 'No company uses SSO for this e-mail domain. Sign in with your username and passkey.',
  },
}
