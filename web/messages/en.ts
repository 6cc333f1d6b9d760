/** Every word of the pages. German must have the same keys: `de.ts` does not compile otherwise. */
export const en = {
  frame: {
    language: 'Language',
    home: 'Countersign, to the start page',
    moment: 'One moment …',
    cancel: 'Cancel',
  },

  landing: {
    title: 'Sign in with your own hand',
    what:
      'Countersign lets you into your apps with a passkey. ' +
      'No password to remember or to lose, and you decide which of your names an app sees.',
    register: 'Create an account',
    login: 'Sign in',
    account: 'Go to your account',
    playground: 'See what an app gets',
  },

  register: {
    title: 'Create an account',
    lead: 'Choose a name. Your device will make the key.',
    handle: 'Username',
    handleHint: 'Letters, digits, and . _ - in between',
    displayName: 'Name people see',
    create: 'Create account with a passkey',
    haveAccount: 'Have an account?',
    login: 'Sign in',
    handleInvalid: 'Use 3 to 32 letters, digits, dots, hyphens or underscores, with a letter or digit at both ends.',
    displayNameInvalid: 'Use 1 to 80 characters that can be seen.',
    handleTaken: 'That username is taken. Try another.',
    madeTitle: 'Your passkey is made',
    touchAgainWhy: 'Use it once more. This time it opens your keys, which only it can do.',
    touchAgain: 'Use the passkey again',
    withoutPrf: 'Go on with the recovery code alone',
    unfinishedWhy: 'Only the last step is missing.',
    finish: 'Finish',
    startOver: 'Start again',
  },

  recovery: {
    title: 'Keep this code',
    why: 'It opens your keys where your passkey can’t. Nobody can give it to you again; we never see it.',
    whyWithoutPrf:
      'This passkey can sign you in, but can’t open your keys. You need this code whenever they must be opened. ' +
      'Nobody can give it to you again; we never see it.',
    label: 'Recovery code',
    copy: 'Copy',
    copied: 'Copied',
    download: 'Download',
    print: 'Print',
    saved: 'I have saved it',
    fileName: 'countersign-recovery-code.txt',
    fileText: (code: string, host: string, handle: string) =>
      `Countersign recovery code\n\n${code}\n\nAccount: ${handle}\nSite: ${host}\n\n` +
      `It opens the keys of this account. Keep it away from this device.\n`,
  },

  login: {
    title: 'Sign in',
    handle: 'Username',
    handleHint: 'You may leave it empty: your passkey knows you.',
    signIn: 'Sign in with a passkey',
    newHere: 'New here?',
    register: 'Create an account',
  },

  signin: {
    documentTitle: (app: string) => `Sign in to ${app}`,
    to: 'Sign in to',
    choose: 'Which of your names?',
    noSuchIdentity: 'The app asked for a name that isn’t among yours. Choose one of these, or use another account.',
    otherAccount: 'Use another account',
    sees: 'It will see',
    alsoSees: 'It will also see',
    already: 'It already sees',
    approve: 'Approve',
    deny: 'Deny',
    change: 'Change',
    returnTo: (host: string) => `you return to ${host}`,
    leaving: (host: string) => `Back to ${host}`,
    privacy: 'Privacy',
    terms: 'Terms',
  },

  scopes: {
    openid: 'Id',
    openidValue: 'a fixed one, so that it knows you again',
    name: 'Name',
    handle: 'Username',
    email: 'E-mail',
    noEmail: 'none on this name; won’t be shared',
    offline_access: 'Access',
    offline_accessValue: 'until you disconnect it, also while you’re away',
    user_id: 'Account id',
    user_idValue: 'the same for all your names: apps can tell they are one person',
    /** In lists, where no values are shown. */
    short: {
      openid: 'knows you again',
      profile: 'sees your name and username',
      email: 'sees your e-mail',
      offline_access: 'stays connected while you’re away',
      user_id: 'sees your account id',
    },
  },

  account: {
    title: 'Your account',
    sections: 'Sections',
    identities: 'Names',
    passkeys: 'Passkeys',
    apps: 'Apps',
    signOut: 'Sign out',
    retry: 'Try again',
  },

  identities: {
    title: 'Your names',
    lead: 'Each name is its own to the apps that see it.',
    rename: 'Change name',
    renameTitle: 'Change the name people see',
    save: 'Save',
    add: 'Add a name',
    addTitle: 'Add a name',
    create: 'Add',
    noEmail: 'No e-mail',
    tooMany: 'This account has all the names it can have.',
  },

  passkeys: {
    title: 'Your passkeys',
    created: (date: string) => `Made ${date}`,
    used: (date: string) => `last used ${date}`,
    synced: 'Synced',
    oneDevice: 'On one device',
    opensKeys: 'Opens your keys',
    signsInOnly: 'Signs you in; doesn’t open your keys',
    recoveryTitle: 'Recovery code',
    recoveryWhy: 'Lost it, or someone saw it? Make a new one; the old one stops working.',
    renew: 'Make a new code',
    codeTitle: 'Your present code',
    codeWhy: 'This passkey can’t open your keys. Your present recovery code can.',
    openWithCode: 'Open my keys',
    codeMalformed: 'This isn’t a whole recovery code. Compare it with the one you kept.',
    codeWrong: 'This code doesn’t open your keys. Is it an older one, or of another account?',
    renewed: 'The new code is in force. The old one no longer works.',
  },

  apps: {
    title: 'Connected apps',
    none: 'No app is connected. Sign in to one, and it appears here.',
    as: (handle: string) => `As @${handle}`,
    since: (date: string) => `since ${date}`,
    disconnect: 'Disconnect',
    revokeTitle: (app: string) => `Disconnect ${app}?`,
    revokeWhat: (app: string, handle: string) =>
      `${app} loses its access to @${handle} now, and must ask you again. ` +
      'What it already knows, and the account you may have there, stay with it.',
    revoke: 'Disconnect now',
  },

  playground: {
    title: 'Playground',
    lead: [
      'This page is an app like any other: it knows nothing of you yet.',
      'It will send you to sign in, as any app does, and come back with a code.',
      'It turns the code into tokens and shows you all it got.',
    ],
    start: 'Sign in with Countersign',
    gotTitle: 'What the app got',
    refusedTitle: 'The app got a refusal',
    checks: 'What the app checked',
    checkNames: {
      signature: 'Signature, by a key of the issuer',
      issuer: 'Issuer',
      audience: 'Audience: this app',
      nonce: 'Nonce: the answer to this very request',
      lifetime: 'Not expired',
    },
    passed: 'right',
    failed: 'wrong',
    noNonce: 'none after a refresh, as it should be',
    response: 'Token response',
    idToken: 'ID token',
    accessToken: 'Access token, as a JWT',
    userinfo: 'User info',
    header: 'Header',
    claims: 'Claims',
    refresh: 'Refresh',
    again: 'Again from the start',
    refreshed: (times: number) => (times === 1 ? 'Refreshed once' : `Refreshed ${times} times`),
    unasked: 'This answer belongs to no request of this tab. Start again.',
    wrongState: 'The state is not the one this tab sent: someone else’s answer. It was thrown away.',
    wrongIssuer: 'The answer names another issuer. It was thrown away.',
  },

  error: {
    reference: 'Reference',
    home: 'To the start page',
    /** By the code of the refusal. */
    titles: {
      not_found: 'Nothing is here',
      invalid_client: 'We don’t know this app',
      invalid_redirect_uri: 'This app asked to send you to a place it didn’t register',
      rate_limited: 'Too many requests',
      server_error: 'Something broke on our side',
      temporarily_unavailable: 'We’ll be right back',
    },
    title: 'This didn’t work',
    hints: {
      not_found: 'Check the address, or begin at the start page.',
      invalid_client: 'Nothing happened. Go back to the app; its makers can mend the link.',
      invalid_redirect_uri: 'For your safety we stopped. Go back to the app; its makers can mend the link.',
      rate_limited: 'Wait a minute, then try again.',
      server_error: 'Try again in a moment. If it stays so, tell the operator the reference below.',
      temporarily_unavailable: 'Try again in a moment.',
    },
  },

  problem: {
    unreachable: 'No connection to the server. Check yours, then try again.',
    unexpected: 'Something went wrong on this page. Reload it and try again.',
    ceremony: {
      declined: 'No passkey was used. Try again when you’re ready.',
      superseded: 'Another passkey request took over. Try again.',
      unsupported: 'This browser doesn’t know passkeys. Use a newer one, or another device.',
      'already registered': 'This device already has a passkey for this account. Sign in with it.',
      unfit: 'This passkey device can’t verify you by fingerprint, face or PIN. Use another.',
      'wrong host': 'Passkeys don’t work at this address. The operator must correct the site’s settings.',
      failed: 'The passkey device reported a fault. Try again, or use another.',
    },
    /** By the code of the refusal; the server's own sentence is shown for the others. */
    refused: {
      handle_taken: 'That username is taken. Try another.',
      invalid_credential: 'This passkey isn’t known here. Use another one, or create an account.',
      unauthorized: 'You’re signed out. Sign in again.',
      reauthentication_required: 'That was a while ago. Confirm with your passkey once more.',
      rate_limited: 'Too many tries. Wait a minute, then try again.',
      temporarily_unavailable: 'The server is busy. Try again in a moment.',
      server_error: 'The server had a fault. Try again in a moment.',
    },
  },
}
