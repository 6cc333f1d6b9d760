import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { suspend } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { openDomains } from '#testing/registration-domains.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
let domains: ReturnType<typeof openDomains>
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  domains = openDomains(world, mailbox)
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Own = Pick<Person, 'identityId' | 'headers'>

/** Registers a colleague, whose only address is of the listed domain. */
async function colleague(email: string): Promise<Own> {
  await domains.allow('acme.example', '*.acme.example')
  const { identity, sessionToken } = await register(world, { emailProof: await domains.prove(email) })
  assert.ok(identity)
  return { identityId: identity.identityId, headers: { authorization: `Bearer ${sessionToken}` } }
}

let made = 0
async function further({ headers }: Own): Promise<Own> {
  made += 1
  const payload = { handle: `further-${made}`, displayName: 'Further' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(answer.statusCode, 201, answer.body)
  return { identityId: answer.json<Identity>().identityId, headers }
}

async function send(method: 'GET' | 'POST' | 'DELETE', { identityId, headers }: Own, path = '', payload?: object) {
  const url = `/api/identities/${identityId}${path}`
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  const body = answer.body === '' ? {} : answer.json<Partial<Identity> & { error?: string }>()
  return { status: answer.statusCode, error: body.error, email: body.email }
}

const remove = (own: Own) => send('DELETE', own, '/email')
const begin = (own: Own, email: string) => send('POST', own, '/email', { email })
const verify = (own: Own, code: string) => send('POST', own, '/email/verify', { code })

async function prove(own: Own, email: string): Promise<void> {
  assert.equal((await begin(own, email)).status, 200)
  assert.equal((await verify(own, codeIn(await mailbox.take()))).status, 200)
}

async function emptyMailbox(): Promise<void> {
  while (mailbox.count() > 0) await mailbox.take()
}

const refused = { status: 409, error: 'email_domain_required' }
const outcome = ({ status, error }: { status: number; error: string | undefined }) => ({ status, error })

test('REG-22 the last address of a listed domain is not removed, nor replaced by one of another domain', async () => {
  const ada = await colleague('ada@acme.example')
  assert.deepEqual(outcome(await remove(ada)), refused)
  assert.deepEqual(outcome(await begin(ada, 'ada@elsewhere.example')), refused)
  assert.equal(mailbox.count(), 0)
  await prove(ada, 'ada@eu.acme.example')
  assert.equal((await send('GET', ada)).email, 'ada@eu.acme.example')
  await emptyMailbox()
})

test('REG-22 a code that was mailed before the domains changed cannot replace the last address', async () => {
  const ada = await colleague('ada@acme.example')
  await domains.allow('acme.example', 'elsewhere.example')
  assert.equal((await begin(ada, 'ada@elsewhere.example')).status, 200)
  const code = codeIn(await mailbox.take())
  await domains.allow('acme.example')
  assert.deepEqual(outcome(await verify(ada, code)), refused)
  assert.equal((await send('GET', ada)).email, 'ada@acme.example')
})

test('REG-22 an address can leave while another identity of the account has one, which then stays', async () => {
  const ada = await colleague('ada@acme.example')
  const second = await further(ada)
  assert.deepEqual(outcome(await send('DELETE', ada)), refused)
  await prove(second, 'second@acme.example')
  assert.equal((await remove(ada)).status, 200)
  await mailbox.take()
  assert.deepEqual(outcome(await remove(second)), refused)
  assert.deepEqual(outcome(await send('DELETE', second)), refused)
  assert.equal((await send('DELETE', ada)).status, 204)
  assert.equal((await send('GET', second)).email, 'second@acme.example')
})

test('REG-22 of two identities that lose their addresses at the same time, one keeps its own', async () => {
  for (let round = 0; round < 5; round += 1) {
    const ada = await colleague(`ada-${round}@acme.example`)
    const second = await further(ada)
    await prove(second, `second-${round}@acme.example`)
    const answers = await Promise.all([remove(ada), round % 2 === 0 ? remove(second) : send('DELETE', second)])
    assert.equal(answers.filter(({ status }) => status < 300).length, 1)
    assert.ok(answers.some(({ error }) => error === 'email_domain_required'))
    await emptyMailbox()
  }
})

test('REG-22 an unverified address and one of a suspended identity do not count', async () => {
  const ada = await colleague('ada@acme.example')
  const [second, third] = [await further(ada), await further(ada)]
  await prove(second, 'second@acme.example')
  await suspend(world, second, { scope: 'identity' })
  const url = `/api/admin/identities/${third.identityId}`
  const { etag } = (await world.api.inject({ url, headers: world.admin })).headers
  const headers = { ...world.admin, 'if-match': String(etag) }
  const edited = await world.api.inject({ method: 'PATCH', url, headers, payload: { email: 'third@acme.example' } })
  assert.equal(edited.statusCode, 200, edited.body)
  assert.deepEqual(outcome(await remove(ada)), refused)
  await emptyMailbox()
})

test('REG-22 an account without such an address, other modes, and deletion of the account are free', async () => {
  await domains.change({ 'registration.mode': 'open' })
  const bob = await world.person()
  await prove(bob, 'bob@elsewhere.example')
  await domains.allow('acme.example')
  assert.equal((await remove(bob)).status, 200)
  await mailbox.take()
  await prove(bob, 'bob@acme.example')
  assert.deepEqual(outcome(await remove(bob)), refused)
  await domains.change({ 'registration.mode': 'invited' })
  assert.equal((await remove(bob)).status, 200)
  await mailbox.take()

  const ada = await colleague('ada@acme.example')
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ada.headers })
  assert.equal(gone.statusCode, 204, gone.body)
  await emptyMailbox()
})
