import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { limits } from '@countersign/protocol/formats/limits'
import { JOSEError } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import { epoch, toNumericDate } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import { type SigningKeys, requireVerificationKey } from '#tokens/signing-keys/signing-keys.ts'
import type { EncryptionMode } from '@countersign/protocol/oauth/app-keys'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { missingClaims } from '@countersign/protocol/formats/required-claims'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import { requireAccess } from '#clients/registration/access/access.ts'
import { getAuthorization } from '#oauth/consents/consent.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { authorizeSilently } from '#oauth/authorize/authorize.ts'
import { continuationPage, parsePrompt } from '#oauth/authorize/parameters.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { exchangeCodeForAssertion } from '#tokens/families/assertion.ts'
import { requireFedcmAccount } from './account.ts'
import { consumeContinuation, storeContinuation } from './continuation.ts'
import { type AssertionRequest, type RequestingApp, parseAssertionRequest } from './request.ts'

/**
 * Assertion that a page gets from the browser.
 *
 * Its `jti` is a token that only its app can redeem, once. The other claims are informative: current state is checked
 * when it is redeemed.
 */
export type Assertion = {
  token: string
  identityId: IdentityId
  clientId: ClientId
  /** Origin of the page to which the browser gives the assertion. */
  origin: string
  scope: ScopeSet
  nonce: string | undefined
  /** App key, encrypted to the key of the app's server (compact JWE). */
  appKey?: string | undefined
}

type Signing = { kernel: Pick<ServerContext, 'config'>; keys: SigningKeys }

/** Signs an assertion as a JWT of its own type (RFC 8725 §3.11), which is valid only for the exchange. */
function signAssertion({ kernel, keys }: Signing, assertion: Assertion, now: Date): Promise<string> {
  const { token, identityId, clientId, origin, scope, nonce, appKey } = assertion
  return signJwt(keys, 'ES256', 'fedcm+jwt', {
    iss: kernel.config.authUrl.origin,
    sub: identityId,
    aud: audienceOf(kernel),
    iat: toNumericDate(now),
    exp: toNumericDate(now) + limits.fedcmAssertionLifetimeSeconds,
    jti: token,
    client_id: clientId,
    origin,
    scope: scope.toString(),
    ...(nonce !== undefined && { nonce }),
    ...(appKey !== undefined && { app_key: appKey }),
  })
}

/**
 * Parses an assertion from a JWT that we signed; returns undefined for anything else. Expiry is checked at redemption,
 * because reuse of a redeemed assertion revokes its tokens however late it is.
 */
export async function readAssertion({ kernel, keys }: Signing, text: string) {
  try {
    const { payload } = await jwtVerify(text, ({ kid = '' }) => requireVerificationKey(keys, 'ES256', kid), {
      issuer: kernel.config.authUrl.origin,
      audience: audienceOf(kernel),
      typ: 'fedcm+jwt',
      algorithms: ['ES256'],
      requiredClaims: ['sub', 'jti', 'exp', 'client_id', 'origin', 'scope'],
      currentDate: epoch,
    })
    const { jti: token = '', client_id: clientId, origin, scope } = payload
    if (typeof clientId !== 'string' || typeof origin !== 'string' || typeof scope !== 'string') return undefined
    return { token, clientId, origin, scope }
  } catch (error) {
    if (error instanceof JOSEError) return undefined
    throw error
  }
}

function audienceOf({ config }: Pick<ServerContext, 'config'>): string {
  return `${config.baseUrl.origin}/api/oauth/fedcm/exchange`
}

const errors = defineErrors({
  access_denied: [403, 'User interaction is required, but not possible in this request.'],
  invalid_request: [400, 'appKeyJwe is not a compact JWE, or the app has requested no key.'],
  invalid_grant: [400, 'The continuation is unknown, expired or already completed.'],
})

type Provider = { kernel: Pick<ServerContext, 'db' | 'config'>; keys: SigningKeys }
type AssertionInput = { asking: RequestingApp; accountId: string; params: string | undefined }

/**
 * Answers a FedCM request of a browser for the page of an app.
 *
 * Returns an assertion if the user has consented to everything before, otherwise the URL of a window in which the user
 * can consent. Throws `access_denied`, `app_access_denied`, `invalid_request`, `invalid_scope`.
 */
export async function issueAssertion(
  { kernel, keys }: Provider,
  session: PasskeySession,
  { asking, accountId, params }: AssertionInput,
  now: Date,
): Promise<{ token: string } | { continue_on: string }> {
  const { db, config } = kernel
  const { app, origin } = asking
  const requested = parseAssertionRequest(asking, params, config)
  const identity = await requireFedcmAccount(db, session, accountId, now)
  const { identityId } = identity
  await requireAccess(db, app, identityId)
  if (!(await isSettled(db, identity, { asking, requested }))) {
    if (requested.prompts.includes('none')) throw errors.access_denied()
    const kept = { asking, requested, identityId }
    const keep = (tx: Transaction) => storeContinuation({ tx, config }, session, kept, now)
    return { continue_on: await actingTransaction(db, session, keep) }
  }
  const { nonce, codeChallenge, codeChallengeMethod } = requested.sent
  const again = { app, audience: origin, identityId, scope: requested.scope, nonce, codeChallenge, codeChallengeMethod }
  const token = await actingTransaction(db, session, (tx) => authorizeSilently({ tx, config }, session, again, now))
  const assertion = { token, identityId, clientId: app.clientId, origin, scope: requested.scope, nonce }
  return { token: await signAssertion({ kernel, keys }, assertion, now) }
}

type Finished = { code: string; clientId: ClientId; state: string; appKeyJwe?: string }

/**
 * Issues the assertion for the consent that a user gave in the window, in exchange for the code issued there. It
 * contains the app key, if the window has encrypted it to the app's server. Throws `invalid_grant`, and
 * `invalid_request` for an app key in clear or one that was not requested.
 */
export async function finalizeContinuation(
  { kernel, keys }: Provider,
  session: PasskeySession,
  { code, clientId, state, appKeyJwe }: Finished,
  now: Date,
): Promise<string> {
  if (appKeyJwe !== undefined && !isCompactJwe(appKeyJwe)) throw errors.invalid_request()
  const { userId, sessionId } = session
  const assertion = await actingTransaction(kernel.db, session, async (tx) => {
    const waiting = await consumeContinuation(tx, { reference: state, userId, clientId }, now)
    if (!waiting) throw errors.invalid_grant()
    const { origin, request } = waiting
    const { nonce, codeChallenge, appKeyJwk } = request.sent
    if (appKeyJwe !== undefined && appKeyJwk === undefined) throw errors.invalid_request()
    const redirectUri = continuationPage(kernel.config.baseUrl.origin)
    const loginPrompted = parsePrompt(request.sent.prompt).includes('login')
    const { allowedScope } = request
    const bound = { clientId, sessionId, redirectUri, codeChallenge, nonce, allowedScope, loginPrompted }
    const reissued = await exchangeCodeForAssertion(tx, { ...bound, code, audience: origin }, now)
    if (!reissued) throw errors.invalid_grant()
    return { ...reissued, clientId, origin, nonce, appKey: appKeyJwe }
  })
  return signAssertion({ kernel, keys }, assertion, now)
}

/**
 * Tells if the user needs not be asked. A consent without recorded scopes does not count. An app key that exists is
 * unlocked in the window.
 */
async function isSettled(
  db: Database,
  identity: Identity,
  { asking: { app }, requested }: { asking: RequestingApp; requested: AssertionRequest },
): Promise<boolean> {
  const { scope, prompts, keyMode } = requested
  if (prompts.some((prompt) => prompt !== 'none')) return false
  if (scope.has('email') && !identity.emailVerified) return false
  if (missingClaims(app.requiredClaims, identity).length > 0) return false
  const { authorization, missingScopes } = await getAuthorization(db, identity.identityId, app.clientId, scope)
  const isGranted = authorization !== null && authorization.scope !== '' && missingScopes.length === 0
  return isGranted && (keyMode === undefined || !hasKey(authorization, keyMode))
}

function hasKey({ encryptedAppKey, encryptedAppPrivateKey }: Authorization, mode: EncryptionMode): boolean {
  return (mode === 'symmetric' ? encryptedAppKey : encryptedAppPrivateKey) !== null
}
