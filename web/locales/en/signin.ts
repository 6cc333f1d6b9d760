import type { ConsentScope } from '@countersign/protocol/formats/scope'

/** Holds the messages for signing in to an app: SSO, consent and delegation. */
export const signinMessages = {
  sso: {
    title: 'Sign in with your organization',
    email: 'Work e-mail address',
    goOn: 'Continue',
    unknownDomain: 'No organization uses SSO for this e-mail domain.',
    connectTitle: 'Link your account',
    says: (organization: string, person: string) => `${organization} identified you as ${person}`,
    connectOnce: (organization: string) => `Confirm once with your passkey. After that, ${organization} signs you in.`,
    membersOnly: (organization: string) => `You need to be a member of ${organization}. Ask for an invitation.`,
    over: 'This sign-in has ended',
    beginAgain: 'The link expired or was already used. Go back and start again.',
    tested: 'Test sign-in successful',
    testedLead: (organization: string) =>
      `This is what ${organization}’s identity provider sent. No account was linked.`,
    subject: 'Subject',
    address: 'E-mail',
    name: 'Name',
    nothing: 'none',
    verified: (email: string) => `${email}, verified`,
    unverified: (email: string) => `${email}, not verified`,
    unverifiedHint:
      'Only people whose e-mail address the provider marks as verified can join automatically. Invite everyone else.',
    toOrganizations: 'Go to your organizations',
    confirmTitle: 'Confirm sign-in',
    confirmAs: (person: string, organization: string) => `Continue as ${person} of ${organization}?`,
    signedInAs: (person: string, handle: string) => `You are signed in as ${person} (@${handle}).`,
    signsOut: (handle: string, other: string) =>
      `If you continue, this browser is signed in as @${handle}, and ${other} is signed out here.`,
    startedElsewhere: 'A link or another site started this sign-in.',
    signsIn: (handle: string) => `If you continue, this browser is signed in as @${handle}. Cancel if that isn’t you.`,
    continueAs: (person: string) => `Continue as ${person}`,
    stayAs: (person: string) => `Stay signed in as ${person}`,
    cancel: 'Cancel',
    leaveTitle: (host: string) => `Continue to ${host}?`,
    leaveLead: (organization: string, host: string) =>
      `Another site started a sign-in with ${organization}. It leads to ${host}.`,
    leaveWarning: (host: string) =>
      `This sign-in isn’t verified. Continue only if you know ${host}. Never enter another service’s password there.`,
    leaveTo: (host: string) => `Continue to ${host}`,
  },

  signin: {
    documentTitle: (app: string) => `Sign in to ${app}`,
    to: 'Sign in to',
    choose: 'Choose an identity',
    noSuchIdentity: 'The app asked for an identity that isn’t yours. Choose one of these or use another account.',
    otherAccount: 'Use another account',
    chooseOrganization: 'Use this app as',
    noSuchOrganization: (handle: string) => `@${handle} isn’t a member of the organization the app asked for.`,
    asMember: (handle: string) => `as @${handle}`,
    yourself: 'Yourself',
    signInThereFirst: 'requires SSO',
    requiresSso: (organization: string) => `${organization} requires you to sign in with SSO`,
    continueWith: (organization: string) => `Continue with ${organization}`,
    forOrganization: (organization: string) => `for ${organization}`,
    organization: 'Organization',
    organizationValue: (organization: string) => `${organization} and your permissions there`,
    sees: 'The app will see',
    alsoSees: 'The app will also see',
    already: 'The app already sees',
    approve: 'Allow',
    deny: 'Deny',
    change: 'Change',
    returnTo: (host: string) => `You’ll return to ${host}`,
    callsItself: (name: string) => `calls itself “${name}”`,
    unverified: 'This app hasn’t been verified. Continue only if you just started signing in yourself.',
    onDevice: 'An app on this device wants to sign you in.',
    appOnDevice: 'an app on this device',
    addEmail: 'Add an e-mail address',
    organizationAccess: {
      read: 'Sees your organizations',
      create: 'Sees your organizations and can create new ones',
    },
    emailRequired: (app: string) => `${app} requires a verified e-mail address. This identity has none.`,
    emailUnavailable: 'E-mail isn’t set up on this service, so you can’t verify an address here. Contact the operator.',
    leaving: (host: string) => `Returning to ${host}…`,
    unlockWhy: (app: string) => `${app} encrypts your data. Use your passkey to unlock your key.`,
    unlock: 'Unlock and continue',
    codeWhy: 'None of the passkeys on this device can unlock your keys. Enter your recovery code; it stays valid.',
    place: {
      title: 'Send your key to a new address?',
      before: (app: string) => `${app} received your encryption key here before:`,
      now: (app: string) => `Now ${app} asks for it here:`,
      warning: (app: string) =>
        `Your key opens everything you have encrypted in ${app}. Send it only if you know that ${app} uses this ` +
        'address, for example because you read so there.',
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
      whatNow:
        'This should never happen. Close this page and contact the app’s developer or the operator of this service.',
    },
    serverOpens: (app: string) =>
      `The server of ${app} receives your encryption key and can read what you encrypt there.`,
    newKey:
      'The app asks for a new encryption key and gets your old one once more. Anything it doesn’t re-encrypt will ' +
      'be lost.',
    privacy: 'Privacy',
    terms: 'Terms',
  },

  connect: {
    documentTitle: (source: string, target: string) => `${source} at ${target}`,
    /** Stands between the names of both apps. */
    wants: 'wants to act on your behalf at',
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
    untilValue: 'when you revoke it in your account',
    withdrawn: {
      invalid_target: (target: string) => `${target} no longer offers this`,
      invalid_scope: (target: string) => `${target} changed what apps can ask for`,
    },
    nothingGranted: 'No access was granted. The app can ask again.',
    back: (app: string) => `Back to ${app}`,
  },

  scopes: {
    openid: 'ID',
    openidValue: 'a permanent ID, so the app recognizes you next time',
    name: 'Name',
    handle: 'Username',
    email: 'E-mail',
    noEmail: 'none for this identity; won’t be shared',
    offline_access: 'Access',
    offline_accessValue: 'until you disconnect the app, also when you’re not using it',
    user_id: 'Account ID',
    user_idValue: 'the same for all your identities, so apps can tell they belong to one person',
    encryption: 'Encryption',
    symmetricValue: 'with your key, which this service can’t read',
    asymmetricValue:
      'with your key pair, which this service can’t read; anyone can look up your public key by username',
    /** Is shown in lists, where no values are shown. */
    short: {
      'e2ee:symmetric': 'encrypts your data with your key',
      'e2ee:asymmetric': 'encrypts your data with your key pair',
      openid: 'recognizes you',
      profile: 'sees your name and username',
      email: 'sees your e-mail',
      offline_access: 'stays connected when you’re not using it',
      user_id: 'sees your account ID',
    } satisfies Record<ConsentScope, string>,
  },

  unfinished: {
    title: 'This sign-in wasn’t completed',
    why: (host: string) => `${host} isn’t a verified app, and its request is invalid. Nothing was shared with it.`,
    silent: (host: string) =>
      `${host}, an unverified app, tried to sign you in without asking. This wasn’t possible. Nothing was shared ` +
      'with it.',
    back: (place: string) => `Back to ${place}`,
  },
}
