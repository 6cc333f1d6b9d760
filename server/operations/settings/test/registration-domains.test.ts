import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Settings } from '@countersign/protocol/operations/settings'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const url = '/api/admin/settings'
const [modeKey, domainsKey] = ['registration.mode', 'registration.domains'] as const

async function read({ api, admin }: TestWorld = world): Promise<Settings> {
  return (await api.inject({ url, headers: admin })).json()
}

type Caller = { of?: TestWorld; headers?: Record<string, string> }
async function change(settings: object, { of = world, headers = of.admin }: Caller = {}) {
  const { revision } = await read(of)
  const conditional = { ...headers, 'if-match': `"${revision}"` }
  return of.api.inject({ method: 'PATCH', url, headers: conditional, payload: { settings } })
}

test('SET-11 domains are stored as A-labels in lower case, once each, and wrong ones are refused', async () => {
  const changed = await change({
    [domainsKey]: ['*.Labs.example', 'ACME.example.', 'B\u00FCcher.example', 'acme.example', '\uFF41cme.example'],
  })
  assert.equal(changed.statusCode, 200, changed.body)
  const value = ['*.labs.example', 'acme.example', 'xn--bcher-kva.example']
  const expected = { value, default: [], source: 'database', editable: true }
  assert.deepEqual(changed.json<Settings>().settings[domainsKey], expected)
  const again = await change({ [domainsKey]: value.toReversed() })
  assert.equal(again.json<Settings>().revision, changed.json<Settings>().revision)

  const wrong = [
    ...['', ' ', 'acme', 'localhost', '*', '*.', '*.example', '**.acme.example', 'a.*.example', '*acme.example'],
    ...['.acme.example', 'ada@acme.example', 'https://acme.example', 'acme.example:25', '192.0.2.1', '[::1]'],
    ...['acme.example,evil.example', 'acme.example evil.example', 'acme.example\nevil.example', 'acme_.example'],
  ]
  for (const domain of wrong) {
    const refused = await change({ [domainsKey]: ['acme.example', domain] })
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_request'], domain)
  }
  for (const list of ['acme.example', { 0: 'acme.example' }, [1], [['acme.example']]])
    assert.equal((await change({ [domainsKey]: list })).statusCode, 400, JSON.stringify(list))
  const many = Array.from({ length: 101 }, (_, index) => `d${index}.example`)
  assert.equal((await change({ [domainsKey]: many })).statusCode, 400)
  assert.equal((await change({ [domainsKey]: many.slice(1) })).statusCode, 200)
  assert.equal((await change({ [domainsKey]: null })).statusCode, 200)
})

test('SET-11 the mode needs a domain, and the last domain stays while the mode needs it', async () => {
  const early = await change({ [modeKey]: 'domains' })
  assert.equal(early.statusCode, 400)
  assert.match(early.json().error_description, /requires a domain in registration\.domains/)
  assert.equal((await change({ [modeKey]: 'domains', [domainsKey]: [] })).statusCode, 400)
  assert.equal((await change({ [modeKey]: 'domains', [domainsKey]: ['acme.example'] })).statusCode, 200)
  for (const list of [null, []]) assert.equal((await change({ [domainsKey]: list })).statusCode, 400)
  const { revision } = await read()
  const defaults = { method: 'POST', url: `${url}/revisions/0/restore` } as const
  const restored = await world.api.inject({
    ...defaults,
    headers: { ...world.admin, 'if-match': `"${revision}"` },
  })
  assert.equal(restored.statusCode, 200, restored.body)
  assert.deepEqual((await read()).settings[domainsKey]?.value, [])
})

test('SET-11 without a mail server the mode is refused, and what else is changed is not', async (t) => {
  const urls = {
    BASE_URL: 'https://a.id.example',
    AUTH_URL: 'https://id.example',
    BUSINESS_URL: 'https://b.id.example',
  }
  const other = await createWorld({
    environment: { ...urls, ALLOW_EMBEDDED: '1', TRUST_PROXY: 'off', REGISTRATION: '' },
  })
  t.after(() => other.close())
  const refused = await change({ [modeKey]: 'domains', [domainsKey]: ['acme.example'] }, { of: other })
  assert.equal(refused.statusCode, 400)
  assert.match(refused.json().error_description, /SMTP_URL/)
  assert.equal((await change({ [domainsKey]: ['acme.example'] }, { of: other })).statusCode, 200)
  // As after the mail server was taken away.
  await other.db
    .updateTable('setting_revision')
    .set({ stored: JSON.stringify({ [modeKey]: 'domains', [domainsKey]: ['acme.example'] }) })
    .execute()
  assert.equal((await change({ 'branding.name': 'Example ID' }, { of: other })).statusCode, 200)
  const sent = { method: 'POST', url: '/api/auth/register/email', payload: { email: 'ada@acme.example' } } as const
  const unsent = await other.api.inject(sent)
  assert.deepEqual([unsent.statusCode, unsent.json().error], [503, 'mail_not_set_up'])
})

test('SET-05 the domains are changed only with operators.manage and a recent passkey', async () => {
  const { headers } = await createToken(world, ['settings.read', 'settings.manage'])
  const refused = await change({ [domainsKey]: ['evil.example'] }, { headers })
  assert.deepEqual([refused.statusCode, refused.json().permission], [403, 'operators.manage'])
  const owner = await makeOperator(world, await world.person(), 'owner')
  const changed = await change({ [domainsKey]: ['acme.example'] }, { headers: owner.page })
  assert.equal(changed.statusCode, 200, changed.body)
  world.pass(301)
  const stale = await change({ [domainsKey]: ['evil.example'] }, { headers: owner.page })
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])

  const log = await world.api.inject({ url: '/api/admin/audit?action=settings.updated&limit=1', headers: world.admin })
  const [event] = log.json().entries
  assert.deepEqual(event.details.changes, [{ path: domainsKey, from: null, to: 'acme.example' }])
})

test('SET-02 domains of the environment win, also over a mode that operators choose', async (t) => {
  const fixed = await createWorld({ environment: { REGISTRATION_DOMAINS: ' *.B.example, a.example ' } })
  t.after(() => fixed.close())
  const setting = (await read(fixed)).settings[domainsKey]
  assert.deepEqual(
    [setting?.value, setting?.source, setting?.editable],
    [['*.b.example', 'a.example'], 'environment', false],
  )
  const refused = await change({ [domainsKey]: ['evil.example'] }, { of: fixed })
  assert.deepEqual([refused.statusCode, refused.json().environment], [409, 'REGISTRATION_DOMAINS'])
  assert.equal((await change({ [modeKey]: 'domains' }, { of: fixed })).statusCode, 200)
})
