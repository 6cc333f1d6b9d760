import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createScimToken, newName } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'

let world: TestWorld
/** Statement that another process commits while the next change runs, after its caller was accepted. */
let interruption: string | undefined
/** What happens at the end of the next change, before it is committed. */
let atCommit: (() => Promise<void>) | undefined

const interrupt = replaceQueries((query, args) => {
  const text = textOf(args[0])
  if (interruption !== undefined && /insert into user_group /.test(text)) {
    const statement = interruption
    interruption = undefined
    // On the embedded database it becomes a part of the change, which the refusal undoes.
    const happen = isShared ? commitElsewhere(statement) : Promise.resolve(query(statement))
    return happen.then(() => query(...args))
  }
  if (text !== 'commit' || !atCommit) return query(...args)
  const happen = atCommit
  atCommit = undefined
  return happen().then(() => query(...args))
})
const commitElsewhere = (statement: string) => world.db.executeQuery<object>(CompiledQuery.raw(statement))
before(async () => {
  world = await createWorld({ between: interrupt })
})
after(() => world.close())

type Caller = { headers: Record<string, string>; ending: string }
type Answer = { statusCode: number; body: string }
type Send = (headers: Caller['headers'], name: string) => Promise<Answer>

const createGroup: Send = (headers, key) =>
  world.api.inject({ method: 'POST', url: '/api/admin/groups', headers, payload: { key, displayName: 'Late' } })
const createScimGroup: Send = (headers, displayName) =>
  world.api.inject({
    method: 'POST',
    url: '/scim/v2/Groups',
    headers: { ...headers, 'content-type': 'application/scim+json' },
    payload: JSON.stringify({ schemas: [groupUrn], displayName }),
  })

async function groupsCalled(name: string): Promise<number> {
  const rows = await world.db
    .selectFrom('user_group')
    .select('group_id')
    .where((where) => where.or([where('key', '=', name), where('display_name', '=', name)]))
    .execute()
  return rows.length
}

const newOperator = async () => makeOperator(world, await world.person(), 'owner')
const demote = (identityId: string) => `update operator set role = 'auditor' where identity_id = '${identityId}'`
const remove = (identityId: string) => `delete from operator where identity_id = '${identityId}'`

async function newScimCaller(ending: (tokenId: string, createdBy: string) => string): Promise<Caller> {
  const { identityId, page } = await newOperator()
  const { token, scimToken } = await createScimToken(world, page)
  return { headers: { authorization: `Bearer ${token}` }, ending: ending(scimToken.tokenId, identityId) }
}

async function newTokenCaller(ending: (tokenId: string, createdBy: string) => string): Promise<Caller> {
  const { identityId, page } = await newOperator()
  const { headers, tokenId } = await createToken(world, ['groups.manage'], { headers: page })
  return { headers, ending: ending(tokenId, identityId) }
}

async function newSessionCaller(ending: (identityId: string) => string): Promise<Caller> {
  const { identityId, page } = await newOperator()
  return { headers: page, ending: ending(identityId) }
}

/** Expects that a change succeeds, but fails if its caller loses the permission while it runs. */
async function expectDenied(send: Send, { headers, ending }: Caller): Promise<void> {
  const name = newName()
  assert.equal((await send(headers, newName())).statusCode, 201)
  interruption = ending
  const answer = await send(headers, name)
  assert.equal(interruption, undefined)
  assert.equal(answer.statusCode, 403, answer.body)
  assert.equal(await groupsCalled(name), 0)
}

test('OPR-13 an operator who loses their role completes no running change', async () => {
  await expectDenied(createGroup, await newSessionCaller(demote))
  await expectDenied(createGroup, await newSessionCaller(remove))
})

test('OPR-13 an admin token that ends, or whose creator is demoted, completes no running change', async () => {
  await expectDenied(createGroup, await newTokenCaller((id) => `delete from admin_token where token_id = '${id}'`))
  await expectDenied(createGroup, await newTokenCaller((_id, createdBy) => demote(createdBy)))
})

test('OPR-13 a SCIM token that is deleted or replaced completes no running change', async () => {
  const where = (id: string) => `where token_id = '${id}'`
  const deleted = (id: string) => `update scim_token set deleted_at = now() ${where(id)}`
  const replaced = (id: string) => `update scim_token set token_sha256 = sha256('another'::bytea) ${where(id)}`
  await expectDenied(createScimGroup, await newScimCaller(deleted))
  await expectDenied(createScimGroup, await newScimCaller(replaced))
})

test('OPR-13 a directory whose operator loses the rights completes no running change', async () => {
  await expectDenied(createScimGroup, await newScimCaller((_id, createdBy) => demote(createdBy)))
})

test('OPR-13 what takes a permission away waits for a change that has already verified it', async () => {
  for (const [send, newCaller] of [
    [createGroup, () => newTokenCaller((id) => `delete from admin_token where token_id = '${id}'`)],
    [createGroup, () => newSessionCaller(demote)],
    [createScimGroup, () => newScimCaller((id) => `update scim_token set deleted_at = now() where token_id = '${id}'`)],
    [createScimGroup, () => newScimCaller((_id, createdBy) => demote(createdBy))],
  ] as const) {
    const { headers, ending } = await newCaller()
    let ended: Promise<unknown> | undefined
    if (isShared)
      atCommit = async () => {
        ended = commitElsewhere(ending)
        await untilWaiting(world.db, 1)
      }
    assert.equal((await send(headers, newName())).statusCode, 201)
    assert.equal(atCommit, undefined)
    await ended
  }
})
