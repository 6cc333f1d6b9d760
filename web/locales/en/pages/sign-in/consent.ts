/** Holds the messages for signing in to an app: the choices, consent and delegation. */
export const consentMessages = {
  signin: {
    documentTitle: (app: string) => `Sign in to ${app}`,
    to: 'Sign in to',
    noSuchIdentity: 'The app asked for an identity that isn’t yours. Choose one of these or use another account.',
    lastUsed: 'Last used',
    addIdentity: 'Add an identity',
    addIdentityLead: 'Apps can’t tell that it belongs to you, unless you let them.',
    addAndContinue: 'Add and continue',
    backTo: (app: string) => `Back to ${app}`,
    back: 'Back',
    chooseOrganization: 'Use this app as',
    passkeyFor: (organization: string) => `Sign in with your passkey once to use this app for ${organization} too.`,
    noSuchOrganization: (handle: string) => `@${handle} isn’t a member of the organization the app asked for.`,
    asMember: (handle: string) => `as @${handle}`,
    yourself: 'Yourself',
    signInThereFirst: 'requires SSO',
    forOrganization: (organization: string) => `for ${organization}`,
    organization: 'Organization',
    organizationValue: (organization: string) => `${organization} and your permissions there`,
    unseen: 'It can’t see your other identities or which other apps you use.',
    confirmedEmail: 'Confirmed',
    sees: 'The app will see',
    alsoSees: 'The app will also see',
    already: 'The app already sees',
    callsItself: (name: string) => `calls itself “${name}”`,
    unverified: 'This app hasn’t been verified. Continue only if you just started signing in yourself.',
    onDevice: 'An app on this device wants to sign you in.',
    appOnDevice: 'an app on this device',
    organizationAccess: {
      read: 'Sees your organizations',
      create: 'Sees your organizations and can create new ones',
    },
    emailRequired: (app: string) => `${app} requires a verified e-mail address. This identity has none.`,
    emailUnavailable: 'E-mail isn’t set up on this service, so you can’t verify an address here. Contact the operator.',
    unlockWhy: (app: string) => `${app} encrypts your data. Use your passkey to unlock your key.`,
    unlock: 'Unlock and continue',
    codeWhy: 'None of the passkeys on this device can unlock your keys. Enter your recovery code; it stays valid.',
    place: {
      title: 'Send your key to a new address?',
      before: (app: string) => `${app} received your encryption key here before:`,
      now: (app: string) => `Now ${app} asks for it here:`,
      warning: (app: string) =>
        `Your key opens everything you have encrypted in ${app}. Send it only if you know that ` +
        `${app} uses this address.`,
      confirm: (host: string) => `Send my key to ${host}`,
      recipientTitle: 'Change who can open your key?',
      boundTo: (app: string) => `Until now, only one server of ${app} can open your key. The fingerprint of its key:`,
      binds: (app: string) =>
        `From now on, only the server of ${app} can open your key, and it can read what you encrypt. The fingerprint ` +
        'of its key:',
      unbinds: (app: string) => `This sign-in asks for your key without that server. Then pages of ${app} get it.`,
      recipientWarning: (app: string) => `Continue only if you know that ${app} wants to read your key on its server.`,
      releaseWarning: (app: string) =>
        `Your key opens everything you have encrypted in ${app}. Continue only if you know that ` +
        `${app} no longer uses this server.`,
      confirmRecipient: 'Change it',
      deny: 'Don’t send it',
    },
    stopped: {
      title: 'Your key wasn’t sent',
      why: (app: string, place: string) =>
        `This service was about to send your encryption key for ${app} to ${place}, but the app asked for it at ` +
        'another address. The key wasn’t sent.',
      whatNow: 'This should never happen. Close this page and contact the app’s developer or the operator.',
    },
    serverOpens: (app: string) =>
      `The server of ${app} receives your encryption key and can read what you encrypt there.`,
    newKey:
      'The app asks for a new encryption key and gets your old one once more. Allow this only if you asked the app ' +
      'for a new key. Until the app re-encrypts your data, only the old key opens it. The old key stays in your ' +
      'data download for 90 days.',
    privacy: 'Privacy',
    terms: 'Terms',
  },

  connect: {
    documentTitle: (source: string, target: string) => `${source} at ${target}`,
    headline: (app: string, target: string) => `${app} wants to act for you at ${target}`,
    limits: 'It gets its own limited access. It never gets your passkey, and it can’t sign for you.',
    nothingElse: 'Not: anything else in your name',
    may: 'The app can',
    mayAlso: 'The app can now also',
    alreadyMay: 'The app can already',
    whileAway: 'Do this while you’re not using the app',
    where: 'Where',
    when: 'When',
    modes: {
      user_present: 'While you use the app, up to one hour after signing in',
      background: 'At any time, even when you’re not using the app',
    },
    until: 'Ends',
    untilValue: 'When you revoke it in your account',
    withdrawn: {
      invalid_target: (target: string) => `${target} no longer offers this`,
      invalid_scope: (target: string) => `${target} changed what apps can ask for`,
    },
    nothingGranted: 'No access was granted. The app can ask again.',
    back: (app: string) => `Back to ${app}`,
  },

  unfinished: {
    title: 'This sign-in wasn’t completed',
    why: (host: string) => `${host} isn’t a verified app, and its request is invalid. Nothing was shared with it.`,
    silent: (host: string) =>
      `${host}, an unverified app, tried to sign you in without asking. This wasn’t possible. Nothing was shared ` +
      'with it.',
    back: (place: string) => `Back to ${place}`,
    forDevelopers: 'For the app’s developer',
  },
}
