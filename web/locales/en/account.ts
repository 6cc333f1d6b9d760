import type { ConsentScope } from '@countersign/protocol/formats/scope'
import { plural } from '../plural.ts'

/** Holds the messages of the account pages, except passkeys, devices and activity. */
export const accountMessages = {
  /** Says what an app may do, in lists, where no values are shown. */
  scopeLabels: {
    'e2ee:symmetric': 'encrypts your data with your key',
    'e2ee:asymmetric': 'encrypts your data with your key pair',
    openid: 'recognizes you',
    profile: 'sees your name and username',
    email: 'sees your e-mail',
    offline_access: 'stays connected when you’re not using it',
    user_id: 'sees your account ID',
    groups: 'sees your groups',
    roles: 'sees your roles in it',
  } satisfies Record<ConsentScope, string>,

  account: {
    title: 'Your account',
    sections: 'Sections',
    identities: 'Identities',
    signing: 'Signing',
    passkeys: 'Passkeys',
    sessions: 'Sessions',
    apps: 'Apps',
    activity: 'Activity',
    data: 'Data & deletion',
    signOut: 'Sign out',
    retry: 'Try again',
  },

  identities: {
    title: 'Your identities',
    lead:
      'Apps see only the identity you choose. Only an app that gets your account ID can tell that the others are ' +
      'yours.',
    change: 'Edit',
    email: 'E-mail',
    addEmail: 'Add e-mail',
    changeEmail: 'Change e-mail',
    delete: 'Delete',
    /** Labels each button with its identity, for users who can’t see which identity it belongs to. */
    choose: {
      change: (handle: string) => `Edit @${handle}`,
      addEmail: (handle: string) => `Add e-mail to @${handle}`,
      changeEmail: (handle: string) => `Change e-mail of @${handle}`,
      delete: (handle: string) => `Delete @${handle}`,
    },
    changeTitle: 'Edit identity',
    handleKept: 'If you change your username, the old one stays reserved for you for 90 days.',
    deleteTitle: (handle: string) => `Delete @${handle}?`,
    deleteWhat:
      'Apps lose access to this identity immediately, and you may lose your data there. This can’t be undone. ' +
      'Nobody else can take the username for 90 days.',
    deleteNow: 'Delete identity',
    save: 'Save',
    add: 'Add identity',
    addTitle: 'Add identity',
    create: 'Add identity',
    noEmail: 'No e-mail',
    tooMany: 'You’ve reached the maximum of 20 identities.',
  },

  email: {
    title: (handle: string) => `E-mail of @${handle}`,
    now: (email: string) => `Current address: ${email}`,
    address: 'E-mail address',
    newAddress: 'New address',
    send: 'Send code',
    invalid: 'Enter a full e-mail address, such as ada@example.com.',
    sent: (email: string) => `We sent a code to ${email}. It expires in ten minutes.`,
    code: 'Code',
    verify: 'Verify e-mail',
    otherAddress: 'Use another address',
    domainRequired: 'Your account must keep its last address that can register here.',
    remove: 'Remove address',
    notSetUp: 'E-mail isn’t set up on this service, so you can’t add an address.',
  },

  signing: {
    title: 'Signing',
    waiting: (count: number) =>
      count === 0
        ? 'No requests waiting'
        : plural('en', count, {
            one: '1 request is waiting for your signature',
            other: `${count} requests are waiting for your signature`,
          }),
    as: (handle: string) => `For @${handle}`,
    asMember: (organization: string, handle: string) => `For ${organization}, as @${handle}`,
    until: (time: string) => `expires ${time}`,
    read: 'Read and sign',
    readOf: (app: string) => `Read and sign the request of ${app}`,
    keysTitle: 'Signing keys',
    fingerprint: 'Fingerprint',
    none: 'No signing key yet. Create one so that apps can request your signature.',
    madeOn: (date: string) => `Created ${date}`,
    replacedOn: (date: string) => `Active since ${date}`,
    former: (count: number) => plural('en', count, { one: '1 previous key', other: `${count} previous keys` }),
    between: (from: string, to: string) => `${from} to ${to}`,
    make: 'Create key',
    makeOf: (handle: string) => `Create key for @${handle}`,
    makeTitle: (handle: string) => `Create a signing key for @${handle}`,
    makeWhat: 'The key is created in this browser. Only your passkeys and your recovery code can unlock it.',
    makeNow: 'Create key',
    replace: 'Replace key',
    replaceOf: (handle: string) => `Replace key of @${handle}`,
    replaceTitle: (handle: string) => `Replace the key of @${handle}?`,
    replaceWhat:
      'The new key is used from now on. Existing signatures stay valid. Do this if someone may have your key.',
    replaceNow: 'Replace key',
    expiring: (count: number) =>
      plural('en', count, { one: '1 pending request will expire.', other: `${count} pending requests will expire.` }),
    inForce: (handle: string) => `The new key of @${handle} is active.`,
    historyTitle: 'History',
    historyKept: 'Unsigned requests are deleted after 30 days.',
    endedAt: {
      signed: (time: string) => `Signed ${time}`,
      denied: (time: string) => `Denied ${time}`,
      expired: (time: string) => `Expired, requested ${time}`,
    },
    text: 'Text',
    textOf: (app: string) => `Text from ${app}`,
    receipt: 'Receipt',
    receiptOf: (app: string, time: string) => `Receipt for ${app}, ${time}`,
    saveText: 'Download text',
  },

  apps: {
    title: 'Connected apps',
    none: 'No connected apps yet. Apps you sign in to appear here.',
    as: (handle: string) => `As @${handle}`,
    since: (date: string) => `since ${date}`,
    disconnect: 'Disconnect',
    key: 'Encryption key',
    placesTitle: (app: string) => `Where your key for ${app} goes`,
    placesWhat:
      'This list is encrypted with your key, so that this service can’t change it. Unlock your keys to see it.',
    showPlaces: 'Unlock and show',
    placesRedirects: 'The app receives your key at these addresses. At any other, you’re asked first.',
    placesRecipient: 'Only the server with this key fingerprint can open it:',
    removePlace: 'Remove',
    closePlaces: 'Close',
    revokeTitle: (app: string) => `Disconnect ${app}?`,
    revokeWhat: (app: string, handle: string) =>
      `${app} loses access to @${handle} immediately and must ask you again. Data it already has, and your account ` +
      'there, stay with the app.',
    keyLost:
      'The app loses your key too. If you connect it again, it gets another one, which doesn’t decrypt earlier data. ' +
      'The file with your data contains the old key, encrypted, for 90 days.',
    revoke: 'Disconnect',
    endsToo: (pairs: string[]) => `Also revokes: ${pairs.join(', ')}.`,
  },

  delegations: {
    title: 'Apps acting for you',
    pair: (source: string, target: string) => `${source} at ${target}`,
    modes: {
      user_present: 'while you use it',
      background: 'also when you’re not using it',
    },
    unused: 'Never used',
    notLately: (days: number) => `Not used in the last ${days} days.`,
    lastUsed: (time: string) => `Last used ${time}`,
    times: (count: number) => plural('en', count, { one: '1 time', other: `${count} times` }),
    revoke: 'Revoke',
    revokeOf: (pair: string) => `Revoke access: ${pair}`,
    revokeTitle: (source: string, target: string) => `Revoke ${source}’s access to ${target}?`,
    revokeWhat: (source: string, handle: string) =>
      `${source} can no longer act as @${handle} there and must ask you again. Access it already has may last up to ` +
      'ten more minutes.',
    revokeNow: 'Revoke access',
    ended: (count: number) => `Revoked: ${count}`,
    endedOn: (day: string) => `revoked ${day}`,
  },

  data: {
    title: 'Data & deletion',
    what: 'Download everything this service stores about you, in one file.',
    download: 'Download data',
    fileName: 'countersign-account.json',
    deleteTitle: 'Delete account',
    deleteWhat: 'Deletes all your identities, passkeys and keys, and disconnects all apps.',
    delete: 'Delete account',
    confirmTitle: 'Delete your account?',
    confirmWhat: 'Your account is deleted immediately. This can’t be undone. Download your data first.',
    typeHandle: (handle: string) => `Enter ${handle} to confirm`,
    mismatch: 'That’s not your username.',
    deleteNow: 'Delete account permanently',
    appsGoToo: (apps: string[]) =>
      `Your own apps are deleted too: ${apps.join(', ')}. Nobody will be able to sign in to them.`,
    deleteWithApps: 'Delete account and apps',
  },
}
