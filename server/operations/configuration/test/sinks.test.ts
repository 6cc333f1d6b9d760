import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import type { ConfigurationChange, ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import type { DeclaredSink, Sink } from '@countersign/protocol/operations/sinks'
import { deletePruned } from '#operations/configuration/pruned.ts'
import { auditEventsBy } from '#testing/audit-events.ts'
import { codeIn, type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let mailbox: Mailbox
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Plan = { changes: ConfigurationChange[]; digest: string }
type Options = { headers?: Record<string, string>; source?: string; [option: string]: unknown }

function send(sinks: DeclaredSink[], { headers = world.admin, source = 'platform', ...options }: Options = {}) {
  const payload = { document: { apiVersion: 'countersign/v1', source, sinks }, dryRun: false, ...options }
  return world.api.inject({ method: 'POST', url: '/api/admin/apply', headers, payload })
}

async function apply(sinks: DeclaredSink[], options?: Options): Promise<Plan> {
  const answer = await send(sinks, options)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

const actionsOf = ({ changes }: Plan) => changes.map(({ object, action }) => `${action} ${object}`)
const pathsOf = ({ changes: [change] }: Plan) => change?.fields.map(({ path }) => path)

async function refusalOf(sinks: DeclaredSink[], options?: Options): Promise<string> {
  const answer = await send(sinks, options)
  return `${answer.statusCode} ${answer.json().error}`
}

async function exported(): Promise<DeclaredSink[] | undefined> {
  const url = '/api/admin/export?source=platform'
  return (await world.api.inject({ url, headers: world.admin })).json<ConfigurationDocument>().sinks
}

async function find(key: string): Promise<Sink | undefined> {
  const answer = await world.api.inject({ url: '/api/admin/sinks', headers: world.admin })
  return answer.json<{ sinks: Sink[] }>().sinks.find((sink) => sink.key === key)
}

async function request(method: 'PATCH' | 'DELETE' | 'POST', path: string, payload?: object): Promise<void> {
  const given = payload && { payload }
  const answer = await world.api.inject({ method, url: `/api/admin/sinks${path}`, headers: world.admin, ...given })
  assert.ok(answer.statusCode < 300, answer.body)
}

/** Gives an identity a verified address. */
async function verifyAddress({ identityId, headers }: Person): Promise<void> {
  const url = `/api/identities/${identityId}/email`
  await world.api.inject({ method: 'POST', url, headers, payload: { email: 'owner@example.com' } })
  const payload = { code: codeIn(await mailbox.take()) }
  assert.equal((await world.api.inject({ method: 'POST', url: `${url}/verify`, headers, payload })).statusCode, 200)
}

const siem: DeclaredSink = {
  key: 'siem',
  kind: 'http',
  url: 'https://siem.example.com/audit',
  headers: { Authorization: 'Splunk the-token-of-the-receiver' },
  actions: ['operator', 'admin_token'],
}

test('CNF-02 CNF-03 sinks are applied, exported, and not changed again; their headers are nowhere', async () => {
  const created = await apply([siem])
  assert.deepEqual(actionsOf(created), ['create sinks/siem'])
  assert.deepEqual(pathsOf(created), ['kind', 'url', 'actions', 'headers'])
  assert.deepEqual(actionsOf(await apply([siem])), ['none sinks/siem'])
  const declared = await exported()
  assert.deepEqual(declared, [{ key: 'siem', kind: 'http', url: siem.url, actions: siem.actions }])
  assert.deepEqual(actionsOf(await apply(declared)), ['none sinks/siem'])
  assert.deepEqual((await find('siem'))?.headerNames, ['authorization'])

  const changed = await apply([{ ...siem, headers: { authorization: 'Splunk another-token' }, actions: null }])
  assert.deepEqual(pathsOf(changed), ['actions', 'headers'])
  assert.deepEqual(changed.changes[0]?.fields.at(-1), { path: 'headers', from: null, to: null })
  const paused = await apply([{ key: 'siem', status: 'paused' }])
  assert.deepEqual(paused.changes[0]?.fields, [{ path: 'status', from: 'enabled', to: 'paused' }])
  assert.deepEqual(await exported(), [{ key: 'siem', kind: 'http', url: siem.url, status: 'paused' }])
  const events = await world.db.selectFrom('audit_event').selectAll().execute()
  const everything = JSON.stringify([created, changed, await exported(), await find('siem'), events])
  assert.doesNotMatch(everything, /the-token-of-the-receiver|another-token/)
})

test('CNF-13 a sink hears what a plan changes before, and owners are mailed; a dry run sends nothing', async () => {
  await verifyAddress(await makeOperator(world, await world.person(), 'owner'))
  const [former, later] = [await startWebhookReceiver(), await startWebhookReceiver()]
  const declared: DeclaredSink = { key: 'heard', kind: 'http', url: former.url, headers: { 'x-token': 'of-former' } }
  await apply([declared])
  assert.match((await mailbox.take()).text, /“heard”/)
  const moved: DeclaredSink = { key: 'heard', url: `http://localhost:${later.port}/other` }
  const shown = await apply([moved], { dryRun: true })
  assert.deepEqual(pathsOf(shown), ['url', 'headers'])
  assert.equal(former.received.length, 0)

  await apply([moved], { digest: shown.digest })
  assert.match((await mailbox.take()).text, /“heard”/)
  assert.deepEqual([former.received.length, later.received.length], [1, 0])
  const [event]: AuditEvent[] = JSON.parse(former.received[0]?.body ?? '[]')
  assert.deepEqual([event?.action, event?.details['changed']], ['sink.change_announced', ['url', 'headers']])
  assert.deepEqual((await find('heard'))?.headerNames, [])

  await apply([{ ...moved, url: declared.url ?? '', headers: declared.headers ?? {} }])
  await mailbox.take()
  assert.deepEqual((await find('heard'))?.headerNames, ['x-token'])
  await apply([{ key: 'heard' }, { ...siem, key: 'other', status: 'paused' }])
  assert.match((await mailbox.take()).text, /“other”/)
  assert.equal(former.received.length, 1, 'nothing of it changed')
  await former.close()
  await later.close()
})

test('CNF-13 a sink that is changed while it hears of a plan is not changed by the plan', async () => {
  const receiver = await startWebhookReceiver([{ status: 204, afterMilliseconds: 300 }])
  await apply([{ key: 'raced', kind: 'http', url: receiver.url }])
  const applying = send([{ key: 'raced', actions: ['group'] }])
  await receiver.has(1)
  const sink = await find('raced')
  await request('PATCH', `/${sink?.sinkId}`, { actions: ['session'] })
  const refused = await applying
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'plan_changed'])
  assert.deepEqual((await find('raced'))?.actions, ['session'])
  await receiver.close()
})

test('CNF-08 a pruned sink is paused, resumed by its document, and deleted after 30 days', async () => {
  const one = (key: string): DeclaredSink => ({ key, kind: 'syslog', url: 'tls://siem.example.com:6514' })
  const options = { source: 'pruning' }
  await apply([one('back'), one('gone'), one('incident'), one('resumed')], options)
  assert.deepEqual(actionsOf(await apply([], options)), [])
  const pruned = await apply([], { ...options, prune: true })
  assert.deepEqual(
    actionsOf(pruned),
    ['back', 'gone', 'incident', 'resumed'].map((key) => `delete sinks/${key}`),
  )
  assert.deepEqual(pruned.changes[0]?.fields, [{ path: 'status', from: 'enabled', to: 'paused' }])
  assert.deepEqual(actionsOf(await apply([], { ...options, prune: true })), [])
  assert.deepEqual(actionsOf(await apply([one('back')], options)), ['update sinks/back'])
  const resumed = await find('resumed')
  await request('PATCH', `/${resumed?.sinkId}`, { status: 'enabled' })
  const incident = await find('incident')
  world.pass(24 * 3600)
  for (const status of ['enabled', 'paused']) await request('PATCH', `/${incident?.sinkId}`, { status })

  const after = (days: number) => new Date(world.now().getTime() + days * 24 * 3600 * 1000)
  await deletePruned(world.db, after(28), 100)
  const gone = await find('gone')
  assert.equal(gone?.status, 'paused')
  const recorded = await auditEventsBy(world.db, () => deletePruned(world.db, after(31), 100))
  assert.equal(await find('gone'), undefined)
  const details = { sinkId: gone?.sinkId, key: 'gone' }
  assert.deepEqual(recorded, [{ action: 'sink.deleted', actor: 'system', details }])
  const kept = await Promise.all(['back', 'incident', 'resumed'].map(async (key) => (await find(key))?.status))
  assert.deepEqual(kept, ['enabled', 'paused', 'enabled'])
})

test('CNF-04 CNF-06 sinks need their permission, a valid target, and adoption if others manage them', async () => {
  await request('POST', '', { key: 'by-hand', kind: 'syslog', url: 'tls://siem.example.com:6514' })
  const quiet: DeclaredSink = { key: 'by-hand', status: 'paused' }
  assert.deepEqual(actionsOf(await apply([{ key: 'by-hand' }])), ['none sinks/by-hand'])
  assert.equal(await refusalOf([quiet]), '409 managed_elsewhere')
  assert.deepEqual(actionsOf(await apply([quiet], { adopt: true })), ['adopt sinks/by-hand'])
  assert.equal(await refusalOf([{ key: 'by-hand', status: 'enabled' }], { source: 'other' }), '409 managed_elsewhere')
  const refusals: DeclaredSink[] = [
    { key: 'new' },
    { key: 'new', kind: 'http', url: 'http://siem.example.com/' },
    { key: 'new', kind: 'http', url: 'https://siem.example.com/', headers: { cookie: 'a=b' } },
    { key: 'new', kind: 'syslog', url: 'tls://siem.example.com:6514', headers: { 'x-a': 'b' } },
    { key: 'by-hand', kind: 'http' },
    { key: 'by-hand', caPem: 'no certificate' },
  ]
  for (const sink of refusals) assert.equal(await refusalOf([sink]), '400 invalid_request', JSON.stringify(sink))
  assert.equal(await find('new'), undefined)
  const { headers } = await createToken(world, ['configuration.apply', 'configuration.export', 'apps.manage'])
  const denied = await send([{ key: 'by-hand' }], { headers, dryRun: true })
  assert.deepEqual([denied.statusCode, denied.json().permission], [403, 'sinks.manage'])
  const answer = await world.api.inject({ url: '/api/admin/export', headers })
  assert.equal(answer.json<ConfigurationDocument>().sinks, undefined)
})
