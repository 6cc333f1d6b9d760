import type { Api, ResponseOf } from '@countersign/protocol/api'
import {
  authorizationRequest,
  codeGrantRequest,
  newVerifier,
  scope,
  type Countersign,
  type Person,
} from './countersign.ts'
import { fieldsOf, tokensOf, type Implementation, type Tokens } from './implementation.ts'
import type { Answer, Call } from './load.ts'

/** Sends the calls of a step, and returns their responses. The implementation of it measures the cost. */
export type Measuring = (step: string, calls: Call[]) => Promise<Answer[]>

/** From the sign-in page to the tokens. */
export const signInSteps = ['login start', 'login finish', 'session', 'consent', 'authorization', 'code grant']
/** What other providers have, too. */
export const tokenSteps = ['code grant', 'refresh grant', 'userinfo', 'introspection']
export const signingSteps = ['signing request', 'signature']

/** Cheap requests are sent more often. */
const cheapFactor = 4

/** Signs in to the app as each of these people, from the passkey to the tokens, and lets each sign a text. */
export async function runSignIns(service: Countersign, people: Person[], measure: Measuring): Promise<void> {
  const post = poster(service.baseUrl)
  const started = await measure(
    'login start',
    people.map(() => post('/api/auth/login/start', {})),
  )
  const finished = await measure(
    'login finish',
    people.map(({ authenticator }, nth) => {
      const { flowId, options } = parse<'POST /api/auth/login/start'>(started[nth])
      return post('/api/auth/login/finish', { flowId, credential: authenticator.authenticate(options) })
    }),
  )
  const sessions = people.map((person, nth) => {
    const { sessionToken } = parse<'POST /api/auth/login/finish'>(finished[nth])
    return { ...person, sessionToken, verifier: newVerifier() }
  })
  const get = (path: string, sessionToken: string): Call => ({
    method: 'GET',
    url: service.baseUrl + path,
    headers: { authorization: `Bearer ${sessionToken}` },
  })
  await measure(
    'session',
    sessions.map(({ sessionToken }) => get('/api/auth/session', sessionToken)),
  )
  await measure(
    'consent',
    sessions.map(({ sessionToken, identityId }) => {
      const query = new URLSearchParams({ identity_id: identityId, scope })
      return get(`/api/oauth/authorization/${service.app.clientId}?${query.toString()}`, sessionToken)
    }),
  )
  const authorized = await measure(
    'authorization',
    sessions.map((session) => authorizationRequest(service, session, session.verifier)),
  )
  const grants = sessions.map(({ verifier }, nth) => codeGrantRequest(service, verifier, authorized[nth]))
  await runTokenSteps(service, grants, measure)
  await runSigning(service, sessions, measure)
}

/** Redeems codes, and uses the tokens. */
export async function runTokenSteps(
  implementation: Implementation,
  codeGrants: Call[],
  measure: Measuring,
): Promise<void> {
  const granted = await measure('code grant', codeGrants)
  const refreshed = await measure('refresh grant', granted.map(tokensOf).map(implementation.refresh))
  const tokens = refreshed.map(tokensOf)
  await measure('userinfo', repeat(tokens).map(implementation.userinfo))
  const described = await measure('introspection', repeat(tokens).map(implementation.introspection))
  if (described.some(({ body }) => fieldsOf(body)['active'] !== true)) throw new Error('a token is not active')
}

async function runSigning(service: Countersign, people: Person[], measure: Measuring): Promise<void> {
  const post = poster(service.baseUrl)
  const texts = people.map((_, nth) => `Pay 125.00 € to Ada Lovelace, IBAN DE89 3704 0044 0532 0130 00, for ${nth}.`)
  const requested = await measure(
    'signing request',
    people.map(({ identityId }, nth) => {
      const text = { payload: texts[nth] ?? '', expiresInSeconds: 3600 }
      return post('/api/signing/request', { ...service.app, identityId, ...text })
    }),
  )
  await measure(
    'signature',
    people.map(({ pair, sessionToken }, nth) => {
      const { requestId } = parse<'POST /api/signing/request'>(requested[nth])
      const answer = { signature: pair.sign(texts[nth] ?? '') }
      return post(`/api/signing/requests/${requestId}/sign`, answer, sessionToken)
    }),
  )
}

export function repeat(tokens: Tokens[]): Tokens[] {
  return Array.from({ length: cheapFactor }, () => tokens).flat()
}

function poster(baseUrl: string) {
  return (path: string, body: object, bearer?: string): Call => ({
    method: 'POST',
    url: baseUrl + path,
    headers: { 'content-type': 'application/json', ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }) },
    body: JSON.stringify(body),
  })
}

function parse<Name extends keyof Api>(answer: Answer | undefined): ResponseOf<Name> {
  return JSON.parse(answer?.body ?? '') as ResponseOf<Name>
}
