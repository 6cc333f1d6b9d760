import type { ExchangeResponse } from '@countersign/protocol/oauth/delegations'
import { postForm, postToken, type Person, type TestApp, type World } from './world.ts'

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'

export type Connectors = Awaited<ReturnType<typeof createConnectors>>

let made = 0

/** A source app, and a target app with a resource at which it may act; with the means to go through the flows. */
export async function createConnectors(world: World, { scopes = ['notes.read', 'notes.write', 'notes.share'] } = {}) {
  made += 1
  const [source, target] = [await world.app({ name: 'Assistant' }), await world.app({ name: 'Notes' })]
  const [resourceKey, audience] = [`notes-${made}`, `https://notes-${made}.example/api`]
  const payload = { resourceKey, displayName: 'Your notes', scopes, audience }
  const url = `/api/admin/apps/${target.clientId}/resources`
  const offered = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  if (offered.statusCode !== 201) throw new Error(`the resource was not registered: ${offered.body}`)

  const fieldsOf = (person: Person, wanted: Record<string, unknown>) => ({
    clientId: source.clientId,
    redirectUri: source.redirectUri,
    identityId: person.identityId,
    connector: true,
    requestedResource: resourceKey,
    requestedScope: 'notes.read',
    ...wanted,
  })

  /** The answer to a consent of a person that the source may act at the resource. */
  const consent = (person: Person, wanted: Record<string, unknown> = {}) =>
    world.api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload: fieldsOf(person, wanted),
    })

  /** The answer to an exchange of a token for one of the resource. */
  const exchange = (subjectToken: string, fields: Record<string, string> = {}, app: TestApp = source) =>
    postToken(world.api, {
      grant_type: exchangeGrant,
      subject_token: subjectToken,
      resource: resourceKey,
      ...app.credentials,
      ...fields,
    })

  /** A person who has agreed, their token at the source, and how that is exchanged. */
  async function connected(wanted: Record<string, unknown> = {}) {
    const person = await world.person()
    const agreed = await consent(person, wanted)
    if (agreed.statusCode !== 200) throw new Error(`no consent: ${agreed.body}`)
    const { access_token_jwt: subjectToken } = await source.tokens(person)
    return { person, subjectToken, exchange: (fields = {}) => exchange(subjectToken, fields) }
  }

  /** A token for the resource. */
  async function delegated(subjectToken: string, fields: Record<string, string> = {}): Promise<ExchangeResponse> {
    const answer = await exchange(subjectToken, fields)
    if (answer.statusCode !== 200) throw new Error(`no exchange: ${answer.body}`)
    return answer.json()
  }

  const changeResource = (change: Record<string, unknown>) =>
    world.api.inject({ method: 'PATCH', url: `${url}/${resourceKey}`, headers: world.admin, payload: change })

  const introspect = (app: TestApp, token: string) =>
    postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })

  return { source, target, resourceKey, audience, consent, exchange, connected, delegated, changeResource, introspect }
}

/** The delegations of a person, as they read them. */
export async function delegationsOf(world: World, person: Pick<Person, 'headers'>) {
  const answer = await world.api.inject({ url: '/api/oauth/delegations', headers: person.headers })
  return answer.json().delegations
}

export function revoke(world: World, person: Pick<Person, 'headers'>, delegationId: string) {
  const url = `/api/oauth/delegations/${delegationId}`
  return world.api.inject({ method: 'DELETE', url, headers: person.headers })
}
