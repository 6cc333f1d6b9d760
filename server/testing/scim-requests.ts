import { scimPatch, scimUser } from './enterprise.ts'
import { newAddress, newHandle, times, type RequestClient } from './request-client.ts'

const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], count: 5 }
const scimGroup = (group: object) => ({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], ...group })

/** Sends every request about SCIM tokens, and every request of a directory. */
export async function provision({ world, send }: RequestClient): Promise<void> {
  const { admin } = world
  const root = '/api/admin/scim-tokens'
  const [made, deleted] = await times(() => send(admin, `POST ${root}`, { name: 'A directory' }), 2)
  await send(admin, `GET ${root}`)
  const { token } = await send(admin, `POST ${root}/${made.scimToken.tokenId}/rotate`)
  await send(admin, `DELETE ${root}/${deleted.scimToken.tokenId}`)

  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
  type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  async function ask(method: Method, path: string, body?: object): Promise<{ id: string }> {
    const payload = body && { payload: JSON.stringify(body) }
    const answer = await world.api.inject({ method, url: `/scim/v2${path}`, headers, ...payload })
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`)
    return answer.statusCode === 204 ? { id: '' } : answer.json()
  }
  for (const path of ['ServiceProviderConfig', 'ResourceTypes', 'ResourceTypes/User', 'Schemas'])
    await ask('GET', `/${path}`)
  const user = () => scimUser({ userName: newHandle(), emails: [{ value: newAddress(), primary: true }] })
  const [first, second, third] = await times(() => ask('POST', '/Users', user()))
  if (!first || !second || !third) throw new Error('no users')
  const accepted = await ask('POST', '/Users', scimUser({ userName: newHandle() }))
  const { handle, displayName } = (await send(admin, `GET /api/admin/identities/${accepted.id}`)).identity
  const invited = await send(admin, `POST /api/admin/identities/${accepted.id}/invitation`, {})
  const person = await world.person()
  await send(person.headers, 'POST /api/identities/invited', { handle, displayName, invitation: invited.token })
  for (const { id } of [first, accepted]) {
    await ask('GET', `/Users/${id}`)
    await ask('PUT', `/Users/${id}`, user())
    await ask('PATCH', `/Users/${id}`, scimPatch({ op: 'replace', path: 'active', value: false }))
    await ask('PATCH', `/Users/${id}`, scimPatch({ op: 'replace', path: 'active', value: true }))
  }
  await ask('DELETE', `/Users/${second.id}`)
  for (const filter of [
    'userName eq "a"',
    `emails.value eq "${newAddress()}"`,
    'active eq true and displayName co "a"',
  ])
    await ask('GET', `/Users?count=5&filter=${encodeURIComponent(filter)}`)
  await ask('GET', '/Users?count=5&sortBy=meta.lastModified')
  for (const path of ['/Users/.search', '/Groups/.search', '/.search']) await ask('POST', path, search)

  const members = [first, accepted].map(({ id }) => ({ value: id }))
  const [group, removed] = await times(() => ask('POST', '/Groups', scimGroup({ displayName: newHandle(), members })))
  if (!group || !removed) throw new Error('no groups')
  await ask('GET', `/Groups/${group.id}`)
  await ask('GET', '/Groups?count=5')
  const add = { op: 'add', path: 'members', value: [{ value: third.id }] }
  const remove = { op: 'remove', path: `members[value eq "${accepted.id}"]` }
  await ask('PATCH', `/Groups/${group.id}`, scimPatch(add, remove))
  await ask('PUT', `/Groups/${group.id}`, scimGroup({ displayName: newHandle(), members }))
  await ask('DELETE', `/Groups/${removed.id}`)
}
