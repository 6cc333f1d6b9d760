import type { AuthorizeRequest } from '@countersign/protocol/oauth'
import type { AppDirectory } from '#apps/app-directory.ts'
import { isRegisteredRedirect } from '#apps/redirect-uri.ts'
import { connect } from '#authorizations/authorization.ts'
import { holdOwnIdentity } from '#identity/identity.ts'
import { record } from '#kernel/audit.ts'
import { transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import type { Session } from '#sessions/session.ts'
import { beginLineage } from '#tokens/lineage.ts'
import { readChallenge, requireEchoable } from './authorization-request.ts'
import { callbackUrl } from './callback-url.ts'
import { requireAllowedScopes } from './scope.ts'

const refuse = refusals({
  invalid_client: [400, 'No app is registered under this client id.'],
  invalid_redirect_uri: [400, 'The redirect URI is not one that the app has registered, letter for letter.'],
  invalid_request: [400, 'The request is malformed.'],
  email_not_verified: [409, 'This identity has no verified e-mail address to share. Go on without the scope email.'],
})

/** Fields of the interface for what this version does not do; to ignore one would be to answer something else. */
const notOffered = [
  'connector',
  'requestedResource',
  'requestedScope',
  'communicationMode',
  'organizationId',
  'encryptedAppKey',
  'appPublicKey',
  'encryptedAppPrivateKey',
  'prompt',
  'maxAge',
]

/**
 * Records a person's consent and issues a code for it. Answers where the browser goes next. Refuses `invalid_client`,
 * `invalid_redirect_uri`, `invalid_request`, `invalid_scope`, `identity_not_found`, `email_not_verified`.
 */
export async function authorize(
  { kernel, apps }: { kernel: Kernel; apps: AppDirectory },
  session: Session,
  wanted: AuthorizeRequest,
  now: Date,
): Promise<string> {
  const app = await apps.find(wanted.clientId)
  if (!app) throw refuse.invalid_client()
  if (!isRegisteredRedirect(app, wanted.redirectUri)) throw refuse.invalid_redirect_uri()
  requireOffered(wanted)
  requireEchoable(wanted.state, wanted.nonce)
  const codeChallenge = readChallenge(app, wanted.codeChallenge, wanted.codeChallengeMethod)
  const scope = requireAllowedScopes(wanted.scope ?? '', app.allowedScopes)
  const { clientId, identityId, redirectUri, nonce } = wanted
  const { sessionId, userId, authTime } = session
  const code = await transaction(kernel.db, async (tx) => {
    // Held, so that an identity that is being deleted is not given anything more.
    const identity = await holdOwnIdentity(tx, userId, identityId)
    if (scope.includes('email') && !identity.emailVerified) throw refuse.email_not_verified()
    await connect(tx, { identityId, clientId, scope }, now)
    await record(
      tx,
      { action: 'app.authorized', actor: 'person', userId, identityId, clientId, details: { scope } },
      now,
    )
    return beginLineage(
      tx,
      { identityId, clientId, sessionId, scope, authTime, redirectUri, codeChallenge, nonce },
      now,
    )
  })
  return callbackUrl(redirectUri, { code, state: wanted.state, iss: kernel.config.authUrl.origin })
}

function requireOffered(wanted: AuthorizeRequest): void {
  if (wanted.responseMode !== undefined && wanted.responseMode !== 'query')
    throw refuse.invalid_request({ sentence: 'The only responseMode is query.' })
  const [offending] = Object.entries(wanted).filter(([name, value]) => notOffered.includes(name) && isMeant(value))
  if (offending)
    throw refuse.invalid_request({ sentence: `The field ${offending[0]} is not supported by this version.` })
}

/** A field that is sent empty or off asks for nothing. */
function isMeant(value: unknown): boolean {
  return value !== null && value !== undefined && value !== false
}
