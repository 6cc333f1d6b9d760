import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import type { Person, TestWorld } from './world.ts'

export type Invited = NewAccountInvitation & { identity: AdminIdentityDetails }
type Headers = Record<string, string>
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export const newHandle = (): string => `new-${randomBytes(6).toString('hex')}`

/** Requests of an operator about invited identities. */
export function openInvited(world: TestWorld) {
  async function operate(method: Method, path: string, payload?: object, headers: Headers = world.admin) {
    const sent = { method, url: `/api/admin/${path}`, headers, ...(payload && { payload }) }
    const answer = await world.api.inject(sent)
    const error = answer.body === '' ? undefined : answer.json<{ error?: string }>().error
    return { status: answer.statusCode, error, answer }
  }

  /** Adds an invited identity. Its names are those that a registration has to send. */
  async function add(fields: object = {}, headers: Headers = world.admin) {
    const given = { handle: newHandle(), displayName: 'Grace Hopper', ...fields }
    const { status, answer } = await operate('POST', 'identities', given, headers)
    assert.equal(status, 201, answer.body)
    const { identity, invitation, token = '', url } = answer.json<Invited>()
    const { handle, displayName, identityId } = identity
    return { identity, identityId, invitation, token, url, names: { handle, displayName } }
  }

  /** Accepts with a further identity of the account of a session. */
  async function acceptFurther({ headers }: Pick<Person, 'headers'>, invitation: string, names: object) {
    const payload = { invitation, ...names }
    const answer = await world.api.inject({ method: 'POST', url: '/api/identities/invited', headers, payload })
    return { status: answer.statusCode, ...answer.json<Identity & { error?: string }>() }
  }

  const entryOf = async (identityId: string) =>
    (await operate('GET', `identities/${identityId}`)).answer.json<{ identity: AdminIdentityDetails }>().identity

  /** What the bearer of a token sees before they register. */
  async function preview(invitation: string) {
    const url = '/api/auth/register/invitation'
    return (await world.api.inject({ method: 'POST', url, payload: { invitation } })).json()
  }

  return { operate, add, acceptFurther, entryOf, preview }
}
