import { plural } from '../../plural.ts'

/** Holds the messages of the playground. */
export const playgroundMessages = {
  title: 'Playground',
  lead: [
    'This demo app doesn’t know you yet.',
    'It sends you to sign in and gets an authorization code back.',
    'It exchanges the code for tokens and shows you everything it received.',
  ],

  start: 'Sign in with Countersign',
  startHere: 'Sign in with a browser dialog (FedCM)',
  gotTitle: 'What the app received',
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
  again: 'Start over',
  refreshed: (times: number) => plural('en', times, { one: 'Refreshed once', other: `Refreshed ${times} times` }),
  unasked: 'This response doesn’t match a request from this tab. Start over.',
  wrongState: 'The state doesn’t match this tab’s request. The response was rejected.',
  wrongIssuer: 'The response comes from another issuer. It was rejected.',
  declined: 'Your browser didn’t sign anyone in. For privacy it doesn’t tell the app why.',
}
