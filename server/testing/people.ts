import assert from 'node:assert/strict'
import type { AdminIdentity } from '@countersign/protocol/operations/people'
import { codeIn, type Mailbox } from './mailbox.ts'
import type { Person, TestWorld } from './world.ts'

export type PeoplePage = {
  identities: AdminIdentity[]
  nextCursor: string | null
  count: number
  countIs: 'exact' | 'at_least'
}

/** Requests of an operator who looks for people. */
export function openDirectory(world: TestWorld) {
  const ask = (path: string, query: Record<string, string> = {}) =>
    world.api.inject({ url: `/api/admin/identities${path}`, query, headers: world.admin })

  async function list(query: Record<string, string> = {}): Promise<PeoplePage> {
    const answer = await ask('', query)
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json()
  }

  /** Lists all pages. Returns the handles in their order. */
  async function listAll(query: Record<string, string> = {}): Promise<string[]> {
    const handles: string[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await list({ ...query, ...(cursor !== undefined && { cursor }) })
      handles.push(...page.identities.map(({ handle }) => handle))
      cursor = page.nextCursor
    }
    return handles
  }

  return { ask, list, listAll, find: (q: string) => listAll({ q }) }
}

type Given = { handle?: string; displayName?: string }

/** Changes an identity like its user. */
export async function rename(world: TestWorld, { headers, identityId }: Person, payload: Given): Promise<void> {
  const answer = await world.api.inject({ method: 'PATCH', url: `/api/identities/${identityId}`, headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)
}

/** Gives an account another identity. Returns its ID. */
export async function addIdentity(world: TestWorld, { headers }: Person, payload: Required<Given>): Promise<string> {
  const answer = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json<{ identityId: string }>().identityId
}

type Addressed = { headers: Record<string, string>; identityId: string }

/** Verifies an e-mail address like its user. */
export async function verifyAddress(world: TestWorld, mailbox: Mailbox, of: Addressed, email: string): Promise<void> {
  const url = `/api/identities/${of.identityId}/email`
  const post = (path: string, payload: object) =>
    world.api.inject({ method: 'POST', url: `${url}${path}`, headers: of.headers, payload })
  assert.equal((await post('', { email })).statusCode, 200)
  const answer = await post('/verify', { code: codeIn(await mailbox.take()) })
  assert.equal(answer.statusCode, 200, answer.body)
}

/** Sets an address like an operator: its user has not verified it. */
export async function editAddress(world: TestWorld, identityId: string, email: string): Promise<void> {
  const url = `/api/admin/identities/${identityId}`
  const { identity } = (await world.api.inject({ url, headers: world.admin })).json()
  const headers = { ...world.admin, 'if-match': `"${identity.version}"` }
  const answer = await world.api.inject({ method: 'PATCH', url, headers, payload: { email } })
  assert.equal(answer.statusCode, 200, answer.body)
}
