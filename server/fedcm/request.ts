import { FederatedRequest } from '@countersign/protocol/fedcm'
import { readRecipientKey } from '@countersign/protocol/formats/recipient-key'
import type { Prompt } from '@countersign/protocol/pages'
import { Value } from 'typebox/value'
import { isRegisteredRedirect } from '#apps/redirect-uri.ts'
import { parseJson } from '#kernel/parse.ts'
import { refusals } from '#kernel/refusal.ts'
import { readKeyWish } from '#oauth/app-key-request.ts'
import { readChallenge, requireEchoable } from '#oauth/authorization-request.ts'
import { readPrompts } from '#oauth/prompt.ts'
import { requireAllowedScopes } from '#oauth/scope.ts'
import type { RequestingApp } from './requesting-app.ts'

const refuse = refusals({ invalid_request: [400, 'The params are malformed.'] })

/** What an app asks for, as it was sent, and what that comes to. */
export type Wanted = {
  sent: FederatedRequest
  /** The scopes to consent to. */
  scope: string[]
  prompts: Prompt[]
  /** Whether it takes a key, which only a window of ours can open. */
  takesKey: boolean
}

/**
 * Reads what an app asks for in `params` (FedCM §2.2), by the rules of an authorization request. The key of an app is
 * sealed to its page, always: there is no address whose fragment it could stand in. Refuses `invalid_request`,
 * `invalid_scope`.
 */
export function readWanted({ app, origin }: RequestingApp, params: string | undefined): Wanted {
  const read = params === undefined ? {} : parseJson(params)
  if (!Value.Check(FederatedRequest, read)) throw refuse.invalid_request()
  const sent = withoutEmpty(read)
  const { redirectUri, nonce, state, codeChallenge, codeChallengeMethod, prompt, appKeyJwk } = sent
  if (redirectUri !== undefined && !(isRegisteredRedirect(app, redirectUri) && new URL(redirectUri).origin === origin))
    throw refuse.invalid_request({ sentence: 'The redirectUri is none that the app has registered for this page.' })
  requireEchoable(state, nonce)
  readChallenge(app, codeChallenge, codeChallengeMethod)
  const asked = requireAllowedScopes(sent.scope ?? '', app)
  const { scope, keyWish } = readKeyWish(app, asked, { mode: 'query', isForOther: false })
  const recipient = appKeyJwk === undefined ? undefined : readRecipientKey(appKeyJwk)
  if (Boolean(keyWish) !== Boolean(recipient) || (appKeyJwk !== undefined && !recipient))
    throw refuse.invalid_request({ sentence: 'An app that takes a key sends an appKeyJwk, and no other does.' })
  return { sent, scope, prompts: readPrompts(prompt), takesKey: keyWish !== undefined }
}

/** What is sent without a value is not sent (RFC 6749 §3.1), as in the address of the page that asks what is open. */
function withoutEmpty(sent: FederatedRequest): FederatedRequest {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
}
