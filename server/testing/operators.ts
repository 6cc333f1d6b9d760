import { randomBytes } from 'node:crypto'
import type { OperatorRole, Permission } from '@countersign/protocol/formats/registries/permissions'
import type { Person, TestWorld } from './world.ts'

/** Returns the headers with which a page of the auth host sends the session cookie of a user. */
export function asPage(world: Pick<TestWorld, 'config'>, token: string): Record<string, string> {
  return { cookie: `__Host-countersign=${token}`, origin: world.config.authUrl.origin }
}

/** Gives an identity a role; `headers` are those of its user at a page. */
export async function makeOperator(world: TestWorld, person: Person, role: OperatorRole) {
  const payload = { handle: person.handle, role }
  const added = await world.api.inject({ method: 'POST', url: '/api/admin/operators', headers: world.admin, payload })
  if (added.statusCode !== 201) throw new Error(`not an operator: ${added.body}`)
  return { ...person, page: asPage(world, person.sessionToken) }
}

/** Creates an admin token, by ADMIN_TOKEN unless other headers are given. */
export async function createToken(
  world: TestWorld,
  permissions: readonly Permission[],
  {
    headers = world.admin,
    ...more
  }: { headers?: Record<string, string>; networks?: string[]; expiresAt?: string } = {},
) {
  const payload = { name: 'A token', permissions, ...more }
  const created = await world.api.inject({ method: 'POST', url: '/api/admin/tokens', headers, payload })
  if (created.statusCode !== 201) throw new Error(`no token: ${created.body}`)
  const { token, adminToken } = created.json<{ token: string; adminToken: { tokenId: string } }>()
  return { token, tokenId: adminToken.tokenId, headers: { authorization: `Bearer ${token}` } }
}

/** Suspends an identity, by default with its whole account. */
export async function suspend(world: TestWorld, { identityId }: Pick<Person, 'identityId'>, fields: object = {}) {
  const url = `/api/admin/identities/${identityId}/suspension`
  const payload = { reason: 'Left the company', ...fields }
  const answer = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  if (answer.statusCode !== 200) throw new Error(`not suspended: ${answer.body}`)
}

/** Ends the suspension through an identity. */
export async function activate(world: TestWorld, { identityId }: Pick<Person, 'identityId'>) {
  const url = `/api/admin/identities/${identityId}/suspension`
  const answer = await world.api.inject({ method: 'DELETE', url, headers: world.admin })
  if (answer.statusCode !== 204) throw new Error(`not activated: ${answer.body}`)
}

/** Adds another identity to the account of a user. */
export async function sibling(world: TestWorld, person: Person): Promise<Person> {
  const handle = `sibling-${randomBytes(6).toString('hex')}`
  const payload = { handle, displayName: 'Sibling' }
  const { headers } = person
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  if (added.statusCode !== 201) throw new Error(`no sibling: ${added.body}`)
  const { identityId } = added.json<{ identityId: Person['identityId'] }>()
  return { ...person, handle, identityId }
}
