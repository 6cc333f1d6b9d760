import { plural } from '../../plural.ts'

/** Holds the messages of the playground. */
export const playgroundMessages = {
  title: 'Playground',
  heading: 'See what an app gets',
  guides: 'Guides',
  registerApp: 'Register app',
  position: (step: number, of: number) => `Step ${step} of ${of}`,
  back: 'Back',
  restart: 'Start over',
  next: (step: string) => `Next: ${step}`,
  done: 'Done',
  steps: {
    'sign-in': {
      name: 'Sign in',
      short: 'An ID token, verified',
      heading: 'Sign in to a demo app',
      lead:
        'The app sends you to sign in and gets an authorization code back. It exchanges the code for tokens and ' +
        'checks them. You see everything that it receives.',
    },
    identity: {
      name: 'Choose another identity',
      short: 'Unlinkable IDs',
      heading: 'Choose another identity',
      lead:
        'Sign in again, as someone else. To the app your identities are different people: nothing that it receives ' +
        'links them.',
    },
    signature: {
      name: 'Sign a payment',
      short: 'A signature, verified',
      heading: 'Sign a payment and watch it verify',
      lead:
        'The app asks for your signature under a text. You read the text on a page of this service, so the app can’t ' +
        'show you something else.',
    },
    delegation: {
      name: 'Let an app act for you',
      short: 'A token with limits',
      heading: 'Let the app act for you',
      lead:
        'The app asks to read your events in another app. You allow it once, and can revoke it at any time. Its ' +
        'token works for ten minutes, and only there.',
    },
    encryption: {
      name: 'Encrypt a note',
      short: 'A key that only you unlock',
      heading: 'Encrypt a note end to end',
      lead:
        'The app gets an encryption key that your passkey unlocks. It encrypts in your browser, so its server stores ' +
        'only what it can’t read. This service can’t read the key either.',
    },
  },
  code: 'What the app runs',

  start: 'Sign in to the demo app',
  startHere: 'Sign in with a browser dialog (FedCM)',
  signedIn: 'Signed in',
  gotTitle: 'What the app received',
  facts: {
    name: 'Name',
    username: 'Username',
    sub: 'ID (sub)',
    email: 'E-mail',
    notShared: 'Not shared',
  },
  refusedTitle: 'The app received an error',
  checks: 'What the app checked',
  checkNames: {
    signature: 'Signature, verified with the issuer’s key',
    issuer: 'Issuer',
    audience: 'Audience: this app',
    nonce: 'Nonce: matches this request',
    lifetime: 'Not expired',
  },
  passed: 'Passed',
  failed: 'Failed',
  noNonce: 'None after a refresh, as expected',
  response: 'Token response',
  idToken: 'ID token',
  accessToken: 'Access token (JWT)',
  userinfo: 'UserInfo',
  header: 'Header',
  claims: 'Claims',
  refresh: 'Refresh tokens',
  again: 'Sign in again',
  refreshed: (times: number) => plural('en', times, { one: 'Refreshed once', other: `Refreshed ${times} times` }),
  unasked: 'This response doesn’t match a request from this tab. Start over.',
  wrongState: 'The state doesn’t match this tab’s request. The response was rejected.',
  wrongIssuer: 'The response comes from another issuer. It was rejected.',
  declined: 'Your browser didn’t sign anyone in. For privacy it doesn’t tell the app why.',

  chooseAnother: 'Choose an identity',
  whatTheAppKnows: 'Users that the app knows',
  nobodyYet: 'No one has signed in yet.',
  needsAnother:
    'Choose another identity than this one. If you have only one, create another while you sign in or in your account.',
  unlinkable: 'Two users with two IDs. The app can’t tell that both are you.',

  signInFirst: 'Sign in first: the app needs to know who you are.',
  theRequest: 'The app asks you to sign',
  payment: (reference: string) => `Pay EUR 12.00\nto: The Corner Bookshop\nreference: a demonstration, ${reference}`,
  signAs: 'Sign as',
  ask: 'Read and sign',
  createSigningKey: 'Create a signing key',
  openSigning: 'Open the signing page',
  unsigned: {
    denied: 'You denied the request. The app has no signature.',
    closed: 'The window was closed before you signed.',
    blocked: 'Your browser blocked the window.',
  },
  whatYouSigned: 'What you signed',
  signed: 'Signed',
  signatureChecks: {
    signature: 'The signature fits the key',
    key: 'The key is yours',
    text: 'The text is the one that the app sent',
    recent: 'It is recent',
  },
  signatureNotes: {
    signature: 'Ed25519, over every character of the text',
    key: 'The key that the service named when the app asked',
    text: 'Not a character differs',
    recent: 'Signed within a few minutes',
  },
  changeLetter: 'Change one character and verify again',
  restoreText: 'Restore the text',

  askToAct: 'Allow reading the demo calendar',
  calendarAnswer: 'What the calendar returned',
  calendarChecked: 'What the calendar checked',
  calendarChecks: {
    signature: 'The token is genuine and not revoked',
    audience: 'It is for the calendar',
    scope: 'It has the scope',
    lifetime: 'It is valid',
  },
  until: (moment: string) => `Until ${moment}`,
  delegatedToken: 'Delegated token',
  revokeAt: 'You can revoke this under',
  accountApps: 'your connected apps',

  getKey: 'Get an encryption key',
  getKeyAgain: 'Get the key again',
  wrongKey: 'The key isn’t encrypted for this browser. It was rejected.',
  keyOf: (username: string) => `Key of ${username}`,
  yourNote: 'Your note',
  noteField: 'Note',
  noteHint: 'The app encrypts it before it leaves this page.',
  firstNote: 'Tea with Mr Babbage. Bring the notes on the engine.',
  encryptNote: 'Encrypt and store',
  forgetKey: 'Forget the key',
  storedNote: 'What the app stores',
  storedWhere: 'An app stores this on its server. This demo stores it in this tab.',
  decryptedNote: 'What the key decrypts it to',
  noKey: 'This page has no key now. It can’t read the note.',
  otherKey:
    'This key doesn’t decrypt the note. Use the identity that encrypted it, or encrypt a new note. An app ' +
    'that was disconnected gets another key.',
  disconnectAt:
    'If you disconnect the app, it gets another key next time, which doesn’t decrypt the note. You find the app under',
}
