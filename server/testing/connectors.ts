import type { ExchangeResponse } from '@countersign/protocol/oauth/delegations'
import { postForm, postToken, type Person, type TestApp, type TestWorld } from './world.ts'

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'

export type Connectors = Awaited<ReturnType<typeof createConnectors>>

let made = 0

/** Creates a source app, a target app with a resource, and functions for the flows between them. */
export async function createConnectors(
  world: TestWorld,
  { scopes = ['notes.read', 'notes.write', 'notes.share'] } = {},
) {
  made += 1
  const [source, target] = [await world.app({ name: 'Assistant' }), await world.app({ name: 'Notes' })]
  const [resourceKey, audience] = [`notes-${made}`, `https://notes-${made}.example/api`]
  const payload = { resourceKey, displayName: 'Your notes', scopes, audience }
  const url = `/api/admin/apps/${target.clientId}/resources`
  const offered = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  if (offered.statusCode !== 201) throw new Error(`resource not registered: ${offered.body}`)

  const fieldsOf = (person: Person, requested: Record<string, unknown>) => ({
    clientId: source.clientId,
    redirectUri: source.redirectUri,
    identityId: person.identityId,
    connector: true,
    requestedResource: resourceKey,
    requestedScope: 'notes.read',
    ...requested,
  })

  /** Sends a user's consent that the source app may act at the resource. */
  const consent = (person: Person, requested: Record<string, unknown> = {}) =>
    world.api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload: fieldsOf(person, requested),
    })

  /** Exchanges a token for a token for the resource. */
  const exchange = (subjectToken: string, fields: Record<string, string> = {}, app: TestApp = source) =>
    postToken(world.api, {
      grant_type: exchangeGrant,
      subject_token: subjectToken,
      resource: resourceKey,
      ...app.credentials,
      ...fields,
    })

  /** Creates a user who has consented, with their token at the source app and its exchange. */
  async function connected(requested: Record<string, unknown> = {}) {
    const person = await world.person()
    const agreed = await consent(person, requested)
    if (agreed.statusCode !== 200) throw new Error(`consent failed: ${agreed.body}`)
    const { access_token_jwt: subjectToken } = await source.tokens(person)
    return { person, subjectToken, exchange: (fields = {}) => exchange(subjectToken, fields) }
  }

  /** Returns a token for the resource. */
  async function delegated(subjectToken: string, fields: Record<string, string> = {}): Promise<ExchangeResponse> {
    const answer = await exchange(subjectToken, fields)
    if (answer.statusCode !== 200) throw new Error(`exchange failed: ${answer.body}`)
    return answer.json()
  }

  const changeResource = (change: Record<string, unknown>) =>
    world.api.inject({ method: 'PATCH', url: `${url}/${resourceKey}`, headers: world.admin, payload: change })

  const introspect = (app: TestApp, token: string) =>
    postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })

  return { source, target, resourceKey, audience, consent, exchange, connected, delegated, changeResource, introspect }
}

/** Lists the delegations of a user over the API. */
export async function delegationsOf(world: TestWorld, person: Pick<Person, 'headers'>) {
  const answer = await world.api.inject({ url: '/api/oauth/delegations', headers: person.headers })
  return answer.json().delegations
}

export function revoke(world: TestWorld, person: Pick<Person, 'headers'>, delegationId: string) {
  const url = `/api/oauth/delegations/${delegationId}`
  return world.api.inject({ method: 'DELETE', url, headers: person.headers })
}
