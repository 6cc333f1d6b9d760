import { newEphemeralKey } from '../encryption/ephemeral-key.ts'
import { askBrowser, disconnectByBrowser } from './federated-sign-in.ts'
import { challengeOf, isMaxAge, newProof, type Grant, type Proof } from '../server/grant.ts'
import { cannotOpen } from '../encryption/jwe.ts'
import { redeem, type Redemption, type SignedIn } from '../server/redemption.ts'
import { leaveToSignIn, takeReturned } from './redirect-sign-in.ts'
import { checkApp, type CheckedApp, type SignInApp } from './sign-in-app.ts'

export { CountersignError } from '../shared/error.ts'
export type { Grant } from '../server/grant.ts'
export type { SignedIn } from '../server/redemption.ts'
export type { SignInApp } from './sign-in-app.ts'

/** How somebody is to sign in this time. */
export type WantedSignIn = {
  /**
   * `active`, if not given: the person has pressed something, and is sent to the page to sign in where their browser
   * has no dialog for it. `passive`: they have not, the browser may show a small one beside the page, and nothing else
   * is done.
   */
  mode?: 'active' | 'passive' | undefined
  /** Leaves the dialog of the browser out. */
  via?: 'redirect' | undefined
  /** The username or address of whom the app expects. */
  loginHint?: string | undefined
  /** The domain of their address. A redirect has no such hint. */
  domainHint?: string | undefined
  /** For which of their organizations. The dialogs of browsers know none: always by a redirect. */
  organizationId?: string | undefined
  /** `login`, `consent` or `select_account` (OpenID Connect Core §3.1.2.1). */
  prompt?: string | undefined
  /**
   * How many seconds ago the person may have authenticated at most; with the prompt `login` 0 if not given. It goes by
   * a redirect, and `redeemSignIn` verifies it. A server that relies on it names it there too.
   */
  maxAge?: number | undefined
  /** Ends the waiting, and closes the dialog. */
  signal?: AbortSignal | undefined
}

export type SignInAnswer =
  | {
      type: 'signed-in'
      /** For `redeemSignIn`: of a public app here, of any other on its server. */
      grant: Grant
      /**
       * The key that the person brought, where the app takes one: for `openAppKey` of `@countersign/sdk/encryption`.
       * It comes by a redirect alone.
       */
      sealedAppKey: string | undefined
    }
  /**
   * Nobody has signed in. The person has closed what was shown, gone back or said no, or their browser showed nothing.
   */
  | { type: 'declined' }
  /** There is no dialog of the browser for this, and the sign-in was a passive one. */
  | { type: 'unsupported' }

/**
 * Signs somebody in. What has just come back from a redirect of this tab is the answer; otherwise the browser asks them
 * in a dialog (FedCM), and one that can't sends them to the page to sign in and back to `redirectUri`. So does an app
 * that takes a key, always: the dialogs of browsers deliver none. This page goes
 * with that, and its promise: there `finishSignIn`, or `signIn` itself, answers the same. Throws CountersignError where
 * the service refuses or nothing can be made of an answer, and what `signal` says.
 */
export async function signIn(app: SignInApp, wanted: WantedSignIn = {}): Promise<SignInAnswer> {
  const returned = await finishSignIn(app)
  if (returned) return returned
  wanted.signal?.throwIfAborted()
  const maxAge = maxAgeOf(wanted)
  const isByDialog = maxAge === undefined && isForDialog(app, wanted)
  if (!isByDialog && wanted.mode === 'passive') return unsupported
  const checked = checkApp(app)
  const proof = newProof()
  const asked = isByDialog ? await askInDialog(checked, wanted, proof) : unsupported
  if (asked.type !== 'unsupported' || wanted.mode === 'passive') return asked
  const { loginHint, organizationId, prompt, signal } = wanted
  const appKeyJwk = checked.takesKey ? await newEphemeralKey() : undefined
  const parameters = given({
    login_hint: loginHint,
    organization_id: organizationId,
    prompt,
    max_age: maxAge?.toString(),
    app_key_jwk: appKeyJwk,
  })
  return { type: await leaveToSignIn(checked, { ...proof, maxAge }, { parameters, signal }) }
}

/**
 * The answer of a sign-in that began in this tab and led away from it: for the page at `redirectUri`, when it is
 * loaded. It takes it out of the address. Undefined, and nothing is touched, where the address holds none. Throws
 * CountersignError: `not_begun_here` for an answer that this tab has not asked for, `cannot_open` where no key came to
 * an app that takes one, and what the service refuses with.
 */
export async function finishSignIn(app: SignInApp): Promise<SignInAnswer | undefined> {
  const checked = checkApp(app)
  const returned = takeReturned(checked)
  if (returned === undefined) return undefined
  if (returned === 'declined') return { type: 'declined' }
  return signedIn(checked, returned.grant, returned.sealedAppKey)
}

/**
 * Redeems what a sign-in gave, once and within a minute, as a public app: the verifier is its proof. Any other hands
 * the grant to its server, where `createCountersign` has the same. Throws CountersignError: `invalid_grant`,
 * `invalid_token`, `authentication_too_old`.
 */
export async function redeemSignIn(app: SignInApp, grant: Grant, options: Redemption = {}): Promise<SignedIn> {
  const { base, issuer, clientId } = checkApp(app)
  return redeem({ base, issuer: new URL(issuer), clientId }, grant, options)
}

/**
 * Disconnects the app from an identity that is signed in in this browser, and ends all that it has of it: its key too,
 * for good, so ask the person first. Answers whether that was done: a browser without dialogs of its own can't, and the
 * person does it at Countersign.
 */
export async function disconnect(app: SignInApp, identityId: string): Promise<boolean> {
  return disconnectByBrowser(checkApp(app), identityId)
}

function maxAgeOf({ prompt, maxAge }: WantedSignIn): number | undefined {
  if (maxAge !== undefined && !isMaxAge(maxAge)) throw new TypeError('maxAge is a whole number of seconds')
  return maxAge ?? (prompt?.split(' ').includes('login') ? 0 : undefined)
}

const unsupported = { type: 'unsupported' } as const

function isForDialog({ appKey }: SignInApp, { via, organizationId }: WantedSignIn): boolean {
  if (appKey || via === 'redirect' || organizationId !== undefined) return false
  return 'IdentityCredential' in globalThis
}

async function askInDialog(app: CheckedApp, wanted: WantedSignIn, proof: Proof): Promise<SignInAnswer> {
  const { mode = 'active', loginHint, domainHint, prompt, signal } = wanted
  const sent = { scope: app.scope, nonce: proof.nonce, codeChallenge: await challengeOf(proof), prompt }
  const answer = await askBrowser(app, { mode, loginHint, domainHint, signal, params: given(sent) })
  if (typeof answer === 'string') return { type: answer }
  return { type: 'signed-in', grant: { assertion: answer.token, ...proof }, sealedAppKey: undefined }
}

/** A key in the clear, or none, is what somebody would send who wants to read along. */
function signedIn({ takesKey }: CheckedApp, grant: Grant, sealedAppKey: string | undefined): SignInAnswer {
  if (takesKey && sealedAppKey === undefined) throw cannotOpen()
  return { type: 'signed-in', grant, sealedAppKey: takesKey ? sealedAppKey : undefined }
}

function given(parameters: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : [])))
}
