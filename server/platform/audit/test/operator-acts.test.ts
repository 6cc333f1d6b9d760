import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { auditEventsBy, type NamedEvent } from '#testing/audit-events.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createScimToken } from '#testing/scim.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Awaited<ReturnType<typeof makeOperator>>
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
before(async () => {
  world = await createWorld()
  owner = await makeOperator(world, await world.person(), 'owner')
  receiver = await startWebhookReceiver()
})
after(async () => {
  await world.close()
  await receiver.close()
})

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Sends a request as the owner and requires success. */
async function ask(method: Method, path: string, payload?: object) {
  const url = `/api/admin/${path}`
  const answer = await world.api.inject({ method, url, headers: owner.page, ...(payload && { payload }) })
  assert.ok(answer.statusCode < 300, `${method} ${path}: ${answer.body}`)
  return answer.body === '' ? {} : answer.json()
}

async function createColleague() {
  const { identityId, userId } = await makeOperator(world, await world.person(), 'apps')
  return { identityId, userId }
}

let made = 0
async function createSink() {
  const body = { key: `sink-${(made += 1)}`, kind: 'http', url: receiver.url }
  const { sink } = await ask('POST', 'sinks', body)
  const of = { sinkId: String(sink.sinkId), key: body.key }
  /** The receiver gets the change before it is made. */
  const announced = (change: string, changed: string[] = []) => ({
    ...{ action: 'sink.change_announced', details: { ...of, change, changed } },
  })
  return { ...of, of, announced, origin: new URL(receiver.url).origin }
}

type Expected = Omit<NamedEvent, 'actor' | 'operator'>
/** An act of an operator, and all events that it leaves. Those of an answer are known after it. */
type Act = { act: () => Promise<unknown>; events: Expected[] | (() => Expected[]) }

const operatorActs: Record<string, () => Promise<Act>> = {
  'operator.added': async () => {
    const { handle, identityId, userId } = await world.person()
    return {
      act: () => ask('POST', 'operators', { handle, role: 'auditor' }),
      events: [{ action: 'operator.added', identityId, userId, details: { role: 'auditor' } }],
    }
  },
  'operator.updated': async () => {
    const colleague = await createColleague()
    return {
      act: () => ask('PATCH', `operators/${colleague.identityId}`, { role: 'auditor' }),
      events: [{ action: 'operator.updated', ...colleague, details: { role: 'auditor', from: 'apps' } }],
    }
  },
  'operator.removed': async () => {
    const colleague = await createColleague()
    return {
      act: () => ask('DELETE', `operators/${colleague.identityId}`),
      events: [{ action: 'operator.removed', ...colleague, details: { role: 'apps' } }],
    }
  },
}

const tokenActs: typeof operatorActs = {
  'admin_token.created': async () => {
    const payload = { name: 'A token', permissions: ['apps.read'], networks: ['192.0.2.0/24'] }
    let tokenId = ''
    return {
      act: async () => void (tokenId = (await ask('POST', 'tokens', payload)).adminToken.tokenId),
      events: () => [{ action: 'admin_token.created', details: { tokenId, ...payload } }],
    }
  },
  'admin_token.rotated': async () => {
    const { tokenId } = await createToken(world, ['apps.read'])
    return {
      act: () => ask('POST', `tokens/${tokenId}/rotate`, { graceSeconds: 60 }),
      events: [{ action: 'admin_token.rotated', details: { tokenId, name: 'A token', graceSeconds: 60 } }],
    }
  },
  'admin_token.revoked': async () => {
    const { tokenId } = await createToken(world, ['apps.read'])
    return {
      act: () => ask('DELETE', `tokens/${tokenId}`),
      events: [{ action: 'admin_token.revoked', details: { tokenId, name: 'A token' } }],
    }
  },
  'scim_token.created': async () => {
    let tokenId = ''
    return {
      act: async () => void (tokenId = (await ask('POST', 'scim-tokens', { name: 'HR' })).scimToken.tokenId),
      events: () => [{ action: 'scim_token.created', details: { tokenId, name: 'HR' } }],
    }
  },
  'scim_token.rotated': async () => {
    const { tokenId, name } = (await createScimToken(world)).scimToken
    return {
      act: () => ask('POST', `scim-tokens/${tokenId}/rotate`),
      events: [{ action: 'scim_token.rotated', details: { tokenId, name } }],
    }
  },
  'scim_token.deleted': async () => {
    const { tokenId, name } = (await createScimToken(world)).scimToken
    return {
      act: () => ask('DELETE', `scim-tokens/${tokenId}`),
      events: [{ action: 'scim_token.deleted', details: { tokenId, name } }],
    }
  },
}

const sinkActs: typeof operatorActs = {
  'sink.created': async () => {
    const { key, kind, url } = { key: 'a-new-sink', kind: 'http', url: receiver.url }
    let sinkId = ''
    return {
      act: async () => void (sinkId = (await ask('POST', 'sinks', { key, kind, url, actions: ['group'] })).sink.sinkId),
      events: () => [
        { action: 'sink.created', details: { sinkId, key, kind, origin: new URL(url).origin, actions: ['group'] } },
      ],
    }
  },
  'sink.updated': async () => {
    const { of, origin, announced } = await createSink()
    const changed = ['status']
    return {
      act: () => ask('PATCH', `sinks/${of.sinkId}`, { status: 'paused' }),
      events: [announced('update', changed), { action: 'sink.updated', details: { ...of, changed, origin } }],
    }
  },
  'sink.replayed': async () => {
    const { of, announced } = await createSink()
    return {
      act: () => ask('PUT', `sinks/${of.sinkId}/cursor`, { cursor: 0 }),
      events: [announced('replay'), { action: 'sink.replayed', details: { ...of, cursor: 0 } }],
    }
  },
  'sink.secret_rotated': async () => {
    const { of, announced } = await createSink()
    return {
      act: () => ask('POST', `sinks/${of.sinkId}/secret`, { graceSeconds: 60 }),
      events: [announced('rotate_secret'), { action: 'sink.secret_rotated', details: { ...of, graceSeconds: 60 } }],
    }
  },
  'sink.deleted': async () => {
    const { of, announced } = await createSink()
    return {
      act: () => ask('DELETE', `sinks/${of.sinkId}`),
      events: [announced('delete'), { action: 'sink.deleted', details: of }],
    }
  },
}

for (const [action, prepare] of Object.entries({ ...operatorActs, ...tokenActs, ...sinkActs }))
  test(`LOG-02 an act of an operator is in the audit log once, with its details: ${action}`, async () => {
    const { act, events } = await prepare()
    const recorded = await auditEventsBy(world.db, act)
    const by = { actor: 'operator', operator: { kind: 'operator', id: owner.identityId } }
    const expected = typeof events === 'function' ? events() : events
    assert.deepEqual(
      recorded,
      expected.map((event) => ({ ...event, ...by })),
    )
  })
