import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { NewScimToken } from '@countersign/protocol/operations/scim-tokens'
import { scimPatch, scimUser } from './enterprise.ts'
import { openInvited } from './invited.ts'
import { register } from './registration.ts'
import type { Person, TestWorld } from './world.ts'

export type Directory = Awaited<ReturnType<typeof openDirectory>>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Creates a SCIM token of the service, by ADMIN_TOKEN unless other headers are given. */
export async function createScimToken(world: TestWorld, headers: Record<string, string> = world.admin) {
  const payload = { name: 'A directory' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/admin/scim-tokens', headers, payload })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json<NewScimToken>()
}

/** Creates a SCIM token, with functions that send requests as its directory. */
export async function openDirectory(world: TestWorld, headers?: Record<string, string>) {
  const { token, scimToken } = await createScimToken(world, headers)

  function ask(method: Method, path: string, payload?: object, more: Record<string, string> = {}) {
    const type = payload && { 'content-type': 'application/scim+json' }
    const authorization = `Bearer ${token}`
    const sent = { method, url: `/scim/v2${path}`, headers: { authorization, ...type, ...more } }
    return world.api.inject({ ...sent, ...(payload && { payload: JSON.stringify(payload) }) })
  }

  async function created(fields: Record<string, unknown> = {}) {
    const answer = await ask('POST', '/Users', scimUser({ userName: newName(), ...fields }))
    assert.equal(answer.statusCode, 201, answer.body)
    return answer.json()
  }

  async function patched(path: string, ...operations: object[]) {
    const answer = await ask('PATCH', path, scimPatch(...operations))
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json()
  }

  /** Lists the resources that match a filter. */
  async function found(filter: string, path = '/Users') {
    const answer = await ask('GET', `${path}?filter=${encodeURIComponent(filter)}`)
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json().Resources
  }

  return { token, tokenId: scimToken.tokenId, source: `scim:${scimToken.tokenId}`, ask, created, patched, found }
}

export const newName = () => `user-${randomUUID().slice(0, 12)}`

/** Creates a user whose invitation is accepted: by a new account, or by an account with a further identity. */
export async function acceptedUser(world: TestWorld, from: Directory, further?: Person) {
  const { operate, acceptFurther } = openInvited(world)
  const { id, userName } = await from.created({ displayName: 'Ada Lovelace' })
  const link = await operate('POST', `identities/${id}/invitation`, {})
  assert.equal(link.status, 201, link.answer.body)
  const { token } = link.answer.json<{ token: string }>()
  const names = { handle: userName, displayName: 'Ada Lovelace' }
  if (further) {
    assert.equal((await acceptFurther(further, token, names)).status, 201)
    return { id, userName, headers: further.headers }
  }
  const registered = await register(world, { invitation: token }, names)
  assert.equal(registered.error ?? registered.status, 201)
  return { id, userName, headers: { authorization: `Bearer ${registered.sessionToken}` } }
}
