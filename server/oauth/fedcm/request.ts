import type { ErrorFormat } from '#platform/http/host.ts'
import { type ApiError, defineErrors } from '#platform/api-error.ts'
import type { ClientId } from '@countersign/protocol/ids'
import type { EncryptionMode } from '@countersign/protocol/oauth/app-keys'
import { FedcmAssertionRequest } from '@countersign/protocol/oauth/fedcm'
import { isSameKey, parseRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import type { Prompt } from '@countersign/protocol/pages'
import type { ScopeSet } from '@countersign/protocol/scope-set'
import { Check } from 'typebox/schema'
import { type Ours, isRegisteredRedirectUri, redirectUriOrigins } from '#clients/registration/settings.ts'
import { parseJson } from '#platform/http/body.ts'
import { parseAppKeyRequest } from '#oauth/authorize/app-key-request.ts'
import { parsePkce, validateStateAndNonce } from '#oauth/authorize/authorization-request.ts'
import { parsePrompt, requireAllowedScopes } from '#oauth/authorize/parameters.ts'
import type { AppDirectory, RegisteredApp } from '#clients/registration/directory.ts'

/** Error codes for which browsers have their own texts (FedCM §4.2.1, IdentityCredentialError). */
const codes = ['access_denied', 'invalid_request', 'unauthorized_client', 'server_error', 'temporarily_unavailable']

/**
 * Formats errors for a FedCM dialog: a code, and the URL of a page that helps the user. The code has two names: `error`
 * in the current specification, and `code` in earlier browsers.
 */
export function fedcmErrorFormat({ origin }: URL): ErrorFormat {
  return {
    mediaType: 'application/json',
    respond(refusal) {
      const code = codeOf(refusal)
      // No browser has a text of its own for this one.
      const page = refusal.code === 'app_access_denied' ? refusal.code : code
      return { error: { error: code, code, url: `${origin}/fedcm/error?code=${page}` } }
    },
  }
}

function codeOf({ code, status }: ApiError): string {
  if (codes.includes(code)) return code
  if (status === 429) return 'temporarily_unavailable'
  return status === 401 || status === 403 ? 'access_denied' : 'invalid_request'
}

const errors = defineErrors({
  invalid_request: [400, 'params is malformed.'],
  unauthorized_client: [403, "The requesting page's origin matches no redirect URI of this app."],
})

const notRegistered =
  'appKeyJwk is not the key that the app has registered for its server. No other key gets an app key.'

/** FedCM request of an app as received, and its parsed values. */
export type AssertionRequest = {
  sent: FedcmAssertionRequest
  /** Scopes to consent to. */
  scope: ScopeSet
  /** Kind of app key to deliver in the window, if any. */
  keyMode: EncryptionMode | undefined
  prompts: Prompt[]
}

/**
 * Parses the `params` of an app (FedCM §2.2) by the rules of an authorization request. An app that takes a
 * key gets it only at the key that it has registered for its server (`appKeyJwk`), and otherwise signs users in without
 * it. Throws `invalid_scope`, and `invalid_request`.
 */
export function parseAssertionRequest(
  { app, origin }: RequestingApp,
  params: string | undefined,
  ours: Ours,
): AssertionRequest {
  const read = params === undefined ? {} : parseJson(params)
  if (!Check(FedcmAssertionRequest, read)) throw errors.invalid_request()
  const sent = withoutEmpty(read)
  const { redirectUri, nonce, state, codeChallenge, codeChallengeMethod, prompt } = sent
  if (sent.appKeyJwk !== undefined) requireRegisteredRecipient(app, sent.appKeyJwk)
  const isOfPage = (uri: string) => isRegisteredRedirectUri(app, uri, ours) && new URL(uri).origin === origin
  if (redirectUri !== undefined && !isOfPage(redirectUri))
    throw errors.invalid_request({
      sentence: "redirectUri is not a redirect URI that the app has registered for this page's origin.",
    })
  validateStateAndNonce(state, nonce)
  parsePkce(app, codeChallenge, codeChallengeMethod)
  const requested = requireAllowedScopes(sent.scope ?? '', app)
  const { scope, keyWish } = parseAppKeyRequest(app, requested, {
    mode: 'query',
    isForOther: false,
    isByBrowser: true,
    hasRecipient: sent.appKeyJwk !== undefined,
  })
  return { sent, scope, keyMode: keyWish?.mode, prompts: parsePrompt(prompt) }
}

/** Throws `invalid_request` unless the key is the one that the app has registered for its server. */
function requireRegisteredRecipient({ supportsE2ee, appKeyRecipientJwk }: RegisteredApp, sent: string): void {
  const [recipient, registered] = [sent, appKeyRecipientJwk ?? ''].map(parseRecipientKey)
  if (!supportsE2ee || !recipient || !registered || !isSameKey(recipient, registered))
    throw errors.invalid_request({ sentence: notRegistered })
}

/** Removes parameters without a value, which count as omitted (RFC 6749 §3.1). */
function withoutEmpty(sent: FedcmAssertionRequest): FedcmAssertionRequest {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
}

/** App, and the origin of the page that requests it. */
export type RequestingApp = { app: RegisteredApp; origin: string }

/**
 * Finds the app of a requesting page. The browser states the origin of the page, which must exactly match the origin of
 * a redirect URI of the app (FedCM §3.5).
 *
 * Apps with a client metadata document are excluded, because anyone can publish one. Throws `unauthorized_client`, also
 * for an unknown app.
 */
export async function requireRequestingApp(
  apps: AppDirectory,
  clientId: ClientId,
  origin: string | undefined,
): Promise<RequestingApp> {
  const app = await apps.find(clientId)
  const isOwn =
    app?.metadataFetchedAt === null && origin !== undefined && redirectUriOrigins(app.redirectUris).includes(origin)
  if (!app || !isOwn) throw errors.unauthorized_client()
  return { app, origin }
}
