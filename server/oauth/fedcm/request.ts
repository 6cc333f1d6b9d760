import { FederatedRequest } from '@countersign/protocol/oauth/fedcm'
import type { Prompt } from '@countersign/protocol/pages'
import { Value } from 'typebox/value'
import { isRegisteredRedirect, type Ours } from '#clients/registration/redirect-uri.ts'
import { parseJson } from '#platform/http/parse.ts'
import { refusals } from '#platform/refusal.ts'
import { readKeyWish } from '#oauth/authorize/app-key-request.ts'
import { readChallenge, requireEchoable } from '#oauth/authorize/authorization-request.ts'
import { readPrompts } from '#oauth/authorize/prompt.ts'
import { requireAllowedScopes } from '#oauth/authorize/scope.ts'
import type { RequestingApp } from './requesting-app.ts'

const refuse = refusals({ invalid_request: [400, 'The params are malformed.'] })

const noKey = 'The dialog of a browser delivers no app key: leave appKeyJwk out, and get the key by a redirect.'

/** What an app asks for, as it was sent, and what that comes to. */
export type Wanted = {
  sent: FederatedRequest
  /** The scopes to consent to. */
  scope: string[]
  prompts: Prompt[]
}

/**
 * Reads what an app asks for in `params` (FedCM §2.2), by the rules of an authorization request. An app that takes a
 * key signs people in without it here. Refuses `invalid_request`, also where the app expects a key, and
 * `invalid_scope`.
 */
export function readWanted({ app, origin }: RequestingApp, params: string | undefined, ours: Ours): Wanted {
  const read = params === undefined ? {} : parseJson(params)
  if (!Value.Check(FederatedRequest, read)) throw refuse.invalid_request()
  const sent = withoutEmpty(read)
  const { redirectUri, nonce, state, codeChallenge, codeChallengeMethod, prompt } = sent
  if (Object.hasOwn(sent, 'appKeyJwk')) throw refuse.invalid_request({ sentence: noKey })
  const isOfPage = (uri: string) => isRegisteredRedirect(app, uri, ours) && new URL(uri).origin === origin
  if (redirectUri !== undefined && !isOfPage(redirectUri))
    throw refuse.invalid_request({ sentence: 'The redirectUri is none that the app has registered for this page.' })
  requireEchoable(state, nonce)
  readChallenge(app, codeChallenge, codeChallengeMethod)
  const asked = requireAllowedScopes(sent.scope ?? '', app)
  const { scope } = readKeyWish(app, asked, { mode: 'query', isForOther: false, isByBrowser: true })
  return { sent, scope, prompts: readPrompts(prompt) }
}

/** What is sent without a value is not sent (RFC 6749 §3.1), as in the address of the page that asks what is open. */
function withoutEmpty(sent: FederatedRequest): FederatedRequest {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''))
}
