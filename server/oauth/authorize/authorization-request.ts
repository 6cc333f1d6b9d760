import { limits } from '@countersign/protocol/formats/limits'
import { readRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { isRequirableClaim } from '@countersign/protocol/formats/required-claims'
import type { KeyDelivery, Leaving, SignInView, Site, UnverifiedFault } from '@countersign/protocol/pages'
import type { AppDirectory, RegisteredApp } from '#clients/registration/app-directory.ts'
import { toPublicApp } from '#clients/registration/app.ts'
import { mustAskAnew, readUnverified } from '#clients/registration/described-app.ts'
import { isRegisteredRedirect } from '#clients/registration/redirect-uri.ts'
import type { Database } from '#platform/database/database.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { isUuid } from '#platform/crypto/token-format.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { answerTo, readResponseMode, type ResponseMode } from './answer.ts'
import { readKeyWish, type Manner } from './app-key-request.ts'
import { readIndicated, requireConnector, toConnector, type AskedConnector } from './connector.ts'
import { endsHere, readContinues, readGivenTo } from './continuation.ts'
import { readIdTokenHint } from './id-token-hint.ts'
import { readMaxAge, readPrompts } from './prompt.ts'
import { requireKeepable } from './pushed-request.ts'
import { readAnswering } from './request-object.ts'
import { requireAllowedScopes } from './scope.ts'
import { readLanguages } from './ui-locales.ts'

/**
 * What becomes of an authorization request: a page to show, or an error to take back to the app. The error of an
 * unverified app is shown first: redirected at once, it would lead from our address to any other (RFC 9700 §4.11.2).
 */
export type Reading = { show: SignInView } | { leave: Leaving; unverified?: UnverifiedFault }

type Reader = { db: Database; apps: AppDirectory; keys: SigningKeys; site: Site }

/** The parameters as they came, each once. */
export type Parameters = Record<string, string>

const refuse = refusals({
  invalid_request: [400, 'The authorization request is malformed.'],
  invalid_client: [400, 'No app is registered under this client_id.'],
  invalid_redirect_uri: [400, 'The redirect_uri is not one that the app has registered, letter for letter.'],
  unsupported_response_type: [400, 'The response type must be code.'],
  request_not_supported: [400, 'Request objects are not supported.'],
  request_uri_not_supported: [400, 'The parameter request_uri is not supported.'],
  registration_not_supported: [400, 'The parameter registration is not supported.'],
})

const challengePattern = /^[A-Za-z0-9_-]{43}$/

/**
 * Checks an authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1). An unknown client or
 * redirect URI is refused here, for a person to read; every other error is for the app, at its redirect URI. With
 * `connector`, or where it names a resource, the app also asks to act at a resource of another.
 */
export async function readAuthorizationRequest(
  { db, apps, keys, site }: Reader,
  parameters: Parameters,
  connector?: AskedConnector,
): Promise<Reading> {
  const continues = readContinues(parameters)
  const { app, redirectUri } = await requireRegistered({ apps, site }, parameters, continues)
  const givenTo = continues ? readGivenTo(app, parameters['fedcm_origin']) : undefined
  const { state, response_mode: responseMode } = readAnswering(redirectUri, parameters)
  const answer = (mode: ResponseMode, error: string, sentence: string) =>
    answerTo(redirectUri, mode, { error, error_description: sentence, state: echoable(state), iss: site.authUrl })
  let mode: ResponseMode = 'query'
  try {
    mode = readResponseMode(redirectUri, responseMode)
    requireOffered(parameters)
    requireKeepable({ parameters, ...(connector && { connector }) })
    requireResponseType(parameters, connector !== undefined)
    const unverified = readUnverified(app, redirectUri)
    const { own, wanted } = connector ? { own: parameters, wanted: connector } : readWanted(parameters)
    const withdrawn = {
      invalid_target: answer(mode, 'invalid_target', 'The resource is not active any more.'),
      invalid_scope: answer(mode, 'invalid_scope', 'The resource has lost a scope that was asked for.'),
    }
    const asked = {
      ...checked(app, own, { mode, isForOther: wanted !== undefined, isByBrowser: continues }),
      ...(unverified && { unverified }),
      ...(mustAskAnew(app, redirectUri) && { asksAnew: true as const }),
      ...(givenTo !== undefined && { givenTo }),
      ...(await readWish({ keys, site }, app, parameters)),
      ...(wanted && { connector: { ...toConnector(await requireConnector(db, wanted)), withdrawn } }),
    }
    const denied = answer(mode, 'access_denied', 'The person said no.')
    const silently = {
      login_required: answer(mode, 'login_required', 'The person would have to sign in.'),
      account_selection_required: answer(mode, 'account_selection_required', 'The person would have to choose.'),
      consent_required: answer(mode, 'consent_required', 'The person would have to consent.'),
      interaction_required: answer(
        mode,
        'interaction_required',
        'The user would have to unlock a key, or to add a claim that the app requires.',
      ),
    }
    const ends = { denied, ...(asked.prompts.includes('none') && { silently }) }
    return { show: { ...asked, ...ends, page: 'signin', site, redirectUri, formPost: mode === 'form_post' } }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { code, message } = error
    const unverified = readUnverified(app, redirectUri)
    const fault = unverified && { host: unverified.host, error: code, description: message }
    return { leave: answer(mode, code, message), ...(fault && { unverified: fault }) }
  }
}

/** Checks a request that the app itself is there to answer to: refuses whatever would not be shown. */
export async function requireAuthorizationRequest(
  { db, apps, keys, site }: Reader,
  parameters: Parameters,
): Promise<void> {
  if (readContinues(parameters)) throw refuse.invalid_request({ sentence: 'The browser has nothing to push.' })
  const { app, redirectUri } = await requireRegistered({ apps, site }, parameters)
  const mode = readResponseMode(redirectUri, parameters['response_mode'])
  requireOffered(parameters)
  requireKeepable({ parameters })
  requireResponseType(parameters)
  const { own, wanted } = readWanted(parameters)
  checked(app, own, { mode, isForOther: wanted !== undefined, isByBrowser: false })
  await readWish({ keys, site }, app, parameters)
  if (wanted) await requireConnector(db, wanted)
}

/** What an app asks for itself, and at the resource that it names, if it does. */
function readWanted(parameters: Parameters): { own: Parameters; wanted?: AskedConnector } {
  const indicated = readIndicated(parameters)
  if (!indicated) return { own: parameters }
  return { own: { ...parameters, scope: indicated.scope }, wanted: indicated.connector }
}

/**
 * What came in a request, for its developer to compare: whatever is not printable ASCII by its number, and not endless.
 */
function visible(text: string): string {
  return text
    .slice(0, 500)
    .replaceAll(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** The app, and its redirect URI. Refuses `invalid_client`, `invalid_redirect_uri`, and says what was sent. */
async function requireRegistered(
  { apps, site }: Pick<Reader, 'apps' | 'site'>,
  { client_id: clientId = '', redirect_uri: redirectUri = '' }: Parameters,
  continues = false,
): Promise<{ app: RegisteredApp; redirectUri: string }> {
  const named = { fields: { client_id: visible(clientId), redirect_uri: visible(redirectUri) } }
  const app = await apps.find(clientId)
  if (!app) throw refuse.invalid_client(named)
  const mayReturn = continues ? endsHere(app, redirectUri, site.baseUrl) : isRegisteredRedirect(app, redirectUri, site)
  if (!mayReturn) throw refuse.invalid_redirect_uri(named)
  return { app, redirectUri }
}

function checked(app: RegisteredApp, parameters: Parameters, answering: Manner) {
  const { state, nonce } = parameters
  const maxAgeSeconds = readMaxAge(parameters['max_age'])
  const codeChallenge = readChallenge(app, parameters['code_challenge'], parameters['code_challenge_method'])
  requireEchoable(state, nonce)
  const { scope, keyWish } = readKeyWish(app, requireAllowedScopes(parameters['scope'] ?? '', app), answering)
  const recipient = readRecipient(parameters['app_key_jwk'])
  if (recipient && !keyWish) throw refuse.invalid_request({ sentence: 'This app takes no key.' })
  const organization = readOrganization(parameters['organization_id'])
  const requiredClaims = app.requiredClaims.filter(isRequirableClaim)
  const key: KeyDelivery | undefined = keyWish && { ...keyWish, ...(recipient && { recipient }) }
  return {
    app: toPublicApp(app),
    scope,
    ...(app.organizationAccess !== 'none' && { organizationAccess: app.organizationAccess }),
    ...(requiredClaims.length > 0 && { requiredClaims }),
    ...(key && { key }),
    ...(organization !== undefined && { organization }),
    ...(state !== undefined && { state }),
    ...(nonce !== undefined && { nonce }),
    ...(codeChallenge !== undefined && { codeChallenge }),
    prompts: readPrompts(parameters['prompt']),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    languages: readLanguages(parameters['ui_locales']),
  }
}

/** For which organization the app wants to be used; with `select` the person chooses. Refuses `invalid_request`. */
function readOrganization(text: string | undefined): string | undefined {
  const organization = text?.toLowerCase()
  if (organization === undefined || organization === 'select' || isUuid(organization)) return organization
  throw refuse.invalid_request({ sentence: 'The organization_id is the id of an organization, or select.' })
}

function readRecipient(text: string | undefined) {
  if (text === undefined) return undefined
  const recipient = readRecipientKey(text)
  if (!recipient)
    throw refuse.invalid_request({ sentence: 'The app_key_jwk is not a public JWK of X25519 or P-256, in base64url.' })
  return recipient
}

/** Who should sign in: by the id of their identity, by an ID token of theirs, or by their handle. */
async function readWish(
  { keys, site }: { keys: SigningKeys; site: Site },
  { clientId }: Pick<RegisteredApp, 'clientId'>,
  { id_token_hint: hint, identity_id: named, login_hint: loginHint }: Parameters,
) {
  const hinted = hint === undefined ? undefined : await readIdTokenHint({ keys, issuer: site.authUrl }, hint)
  if (hint !== undefined && hinted?.clientId !== clientId)
    throw refuse.invalid_request({ sentence: 'The id_token_hint is not an ID token that this app got from here.' })
  if (hinted && named !== undefined && hinted.identityId !== named)
    throw refuse.invalid_request({ sentence: 'The id_token_hint and the identity_id are of two identities.' })
  const identityId = hinted?.identityId ?? named
  return { ...(identityId !== undefined && { identityId }), ...(loginHint !== undefined && { loginHint }) }
}

function requireOffered(parameters: Parameters): void {
  if (parameters['request'] !== undefined) throw refuse.request_not_supported()
  if (parameters['request_uri'] !== undefined) throw refuse.request_uri_not_supported()
  if (parameters['registration'] !== undefined) throw refuse.registration_not_supported()
}

/**
 * Only the code flow is offered. A request may leave that out where its challenge says it, for only a code has one
 * (RFC 7636 §4.3), or at the address of connectors. Refuses `invalid_request`, `unsupported_response_type`.
 */
function requireResponseType({ response_type: type, code_challenge: challenge }: Parameters, isImplied = false): void {
  if (type === undefined && challenge === undefined && !isImplied)
    throw refuse.invalid_request({
      sentence: 'response_type is missing. Only a request with a code_challenge needs none.',
    })
  if (type !== undefined && type !== 'code') throw refuse.unsupported_response_type()
}

/** The PKCE challenge, by S256 only; a public app must send one. Refuses `invalid_request`. */
export function readChallenge(
  app: Pick<RegisteredApp, 'isPublic'>,
  challenge: string | undefined,
  method: string | undefined,
) {
  if (challenge === undefined && method !== undefined)
    throw refuse.invalid_request({ sentence: 'A code_challenge_method needs a code_challenge.' })
  if (challenge === undefined && app.isPublic)
    throw refuse.invalid_request({ sentence: 'A public app must send a code_challenge.' })
  if (challenge === undefined) return undefined
  if (method !== undefined && method !== 'S256')
    throw refuse.invalid_request({ sentence: 'The only code_challenge_method is S256.' })
  if (!challengePattern.test(challenge))
    throw refuse.invalid_request({ sentence: 'A code_challenge is 43 characters of base64url.' })
  return challenge
}

/** Refuses `invalid_request` for a state or nonce too long to be given back whole. */
export function requireEchoable(state: string | undefined, nonce: string | undefined): void {
  if (state !== undefined && state.length > limits.stateCharactersMax)
    throw refuse.invalid_request({ sentence: `The state is longer than ${limits.stateCharactersMax} characters.` })
  if (nonce !== undefined && nonce.length > limits.nonceCharactersMax)
    throw refuse.invalid_request({ sentence: `The nonce is longer than ${limits.nonceCharactersMax} characters.` })
}

/** A state that is too long is left out of the answer: cut, it would be another one. */
function echoable(state: string | undefined): string | undefined {
  return state !== undefined && state.length <= limits.stateCharactersMax ? state : undefined
}
