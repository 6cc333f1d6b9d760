import type { Identity } from '@countersign/protocol/accounts/identities'
import { missingClaims } from '@countersign/protocol/formats/required-claims'
import { readAuthorization } from '#oauth/consents/consent.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { authorizeAgain } from '#oauth/authorize/authorize.ts'
import { continuationPage } from '#oauth/authorize/continuation.ts'
import { readPrompts } from '#oauth/authorize/prompt.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { reissueAsAssertion } from '#tokens/families/assertion.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { requireAccount } from './account.ts'
import { signAssertion } from './assertion-token.ts'
import { keepContinuation, spendContinuation } from './continuation.ts'
import { readWanted, type Wanted } from './request.ts'
import type { RequestingApp } from './requesting-app.ts'

const refuse = refusals({
  access_denied: [403, 'The person would have to be asked, and may not be.'],
  invalid_grant: [400, 'Nothing waits for this, it has expired, or it was finished before.'],
})

type Provider = { kernel: Pick<Kernel, 'db' | 'config'>; keys: SigningKeys }
type Asked = { asking: RequestingApp; accountId: string; params: string | undefined }

/**
 * What a browser gets for the page of an app: an assertion where the person has agreed to all of it before, else where
 * to open a window in which they can. Refuses `access_denied`, `invalid_request`, `invalid_scope`.
 */
export async function assertIdentity(
  { kernel, keys }: Provider,
  session: Session,
  { asking, accountId, params }: Asked,
  now: Date,
): Promise<{ token: string } | { continue_on: string }> {
  const { db, config } = kernel
  const { app, origin } = asking
  const wanted = readWanted(asking, params, config)
  const identity = await requireAccount(db, session, accountId)
  const { identityId } = identity
  if (!(await isSettled(db, identity, { asking, wanted }))) {
    if (wanted.prompts.includes('none')) throw refuse.access_denied()
    const kept = { asking, wanted, identityId }
    const keep = (tx: Transaction) => keepContinuation({ tx, config }, session, kept, now)
    return { continue_on: await actingTransaction(db, session, keep) }
  }
  const { nonce, codeChallenge, codeChallengeMethod } = wanted.sent
  const scope = wanted.scope.join(' ')
  const again = { app, audience: origin, identityId, scope, nonce, codeChallenge, codeChallengeMethod }
  const token = await actingTransaction(db, session, (tx) => authorizeAgain({ tx, config }, session, again, now))
  const assertion = { token, identityId, clientId: app.clientId, origin, scope: wanted.scope, nonce }
  return { token: await signAssertion({ kernel, keys }, assertion, now) }
}

type Finished = { code: string; clientId: string; state: string }

/**
 * The assertion for what a person has agreed to in the window, in place of the code that they got there. Refuses
 * `invalid_grant`.
 */
export async function finalize(
  { kernel, keys }: Provider,
  session: Session,
  { code, clientId, state }: Finished,
  now: Date,
): Promise<string> {
  const { userId, sessionId } = session
  const assertion = await actingTransaction(kernel.db, session, async (tx) => {
    const waiting = await spendContinuation(tx, { reference: state, userId, clientId }, now)
    if (!waiting) throw refuse.invalid_grant()
    const { origin, request } = waiting
    const { nonce, codeChallenge } = request.sent
    const redirectUri = continuationPage(kernel.config.baseUrl.origin)
    const loginPrompted = readPrompts(request.sent.prompt).includes('login')
    const { allowedScope } = request
    const bound = { clientId, sessionId, redirectUri, codeChallenge, nonce, allowedScope, loginPrompted }
    const reissued = await reissueAsAssertion(tx, { ...bound, code, audience: origin }, now)
    if (!reissued) throw refuse.invalid_grant()
    return { ...reissued, clientId, origin, nonce }
  })
  return signAssertion({ kernel, keys }, assertion, now)
}

/** Whether nothing is left to ask. A consent of which nothing is recorded says nothing. */
async function isSettled(
  db: Database,
  identity: Identity,
  { asking: { app }, wanted }: { asking: RequestingApp; wanted: Wanted },
): Promise<boolean> {
  const { scope, prompts } = wanted
  if (prompts.some((prompt) => prompt !== 'none')) return false
  if (scope.includes('email') && !identity.emailVerified) return false
  if (missingClaims(app.requiredClaims, identity).length > 0) return false
  const { authorization, missingScopes } = await readAuthorization(db, identity.identityId, app.clientId, scope)
  return authorization !== null && authorization.scope !== '' && missingScopes.length === 0
}
