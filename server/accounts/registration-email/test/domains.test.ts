import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { domainToASCII } from 'node:url'
import { offerSetup } from '#accounts/operators/setup.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { openDomains } from '#testing/registration-domains.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

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

test('REG-03 a user of a listed domain registers with the address that a mailed code proves', async () => {
  await domains.allow('acme.example')
  const { status, body } = await domains.request('Ada@ACME.Example')
  const expiresAt = new Date(world.now().getTime() + 600_000).toISOString()
  assert.deepEqual([status, body.email, body.expiresAt], [200, 'Ada@acme.example', expiresAt])
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, ['Ada@acme.example'])
  const code = /^\d{8}$/m.exec(mail.text)?.[0] ?? ''
  const { body: proved } = await domains.verify(body.verificationId, ` ${code.slice(0, 4)} ${code.slice(4)} `)
  assert.deepEqual([proved.email, proved.emailProof.startsWith('cs_email_')], ['Ada@acme.example', true])

  const { emailProof } = proved
  const registered = await register(world, { emailProof })
  assert.equal(registered.status, 201)
  assert.deepEqual([registered.identity?.email, registered.identity?.emailVerified], ['Ada@acme.example', true])
  const url = `/api/admin/identities/${registered.identity?.identityId}/activity`
  const { entries } = (await world.api.inject({ url, headers: world.admin })).json<{ entries: { action: string }[] }>()
  const actions = entries.map(({ action }) => action)
  assert.ok(actions.includes('identity.email.verified'), actions.join())
  assert.deepEqual(await world.db.selectFrom('registration_email').selectAll().execute(), [])
})

test('REG-03 without a proof, no one registers but by an invitation, whose address may be of any domain', async () => {
  await domains.allow('acme.example')
  const refused = await register(world)
  assert.deepEqual([refused.status, refused.error], [403, 'email_verification_required'])
  for (const emailProof of ['', 'cs_email_made-up', 'x'.repeat(200)])
    assert.equal((await register(world, { emailProof })).error, 'email_verification_required')
  const sent = { method: 'POST', url: '/api/admin/invitations', headers: world.admin } as const
  const { token } = (await world.api.inject({ ...sent, payload: { kind: 'link' } })).json<{ token: string }>()
  assert.equal((await register(world, { invitation: token })).status, 201)
  const mail = { kind: 'mail', email: 'grace@navy.example' }
  await world.api.inject({ ...sent, payload: mail })
  const invitation = /register#(cs_inv_[\w-]+)/.exec((await mailbox.take()).text)?.[1] ?? ''
  const guest = await register(world, { invitation })
  assert.deepEqual([guest.status, guest.identity?.email], [201, 'grace@navy.example'])
})

test('REG-03 the setup link and a further identity need no address', async () => {
  await domains.allow('acme.example')
  const link = await offerSetup(world.db, world.config, world.now())
  const owner = await register(world, { setup: link?.url.split('#')[1] ?? '' })
  assert.deepEqual([owner.status, owner.identity?.email], [201, null])
  const headers = { authorization: `Bearer ${owner.sessionToken}` }
  const payload = { handle: 'a-further-one', displayName: 'Further' }
  const further = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(further.statusCode, 201, further.body)
})

const refusedAddresses: [reason: string, address: string][] = [
  ['a domain below', 'ada@eu.acme.example'],
  ['a domain above', 'ada@example'],
  ['a domain that ends alike', 'ada@notacme.example'],
  ['a domain that continues', 'ada@acme.example.evil.example'],
  ['another top domain', 'ada@acme.example.com'],
  ['a Cyrillic look-alike', 'ada@\u0430cme.example'],
  ['its A-label', 'ada@xn--cme-8cd.example'],
  ['a domain above a pattern', 'ada@labs.example'],
  ['a domain that ends like a pattern', 'ada@evil-labs.example'],
  ['a sharp s as another domain than ss', 'ada@stra\u00DFe.example'],
]
for (const [reason, address] of refusedAddresses)
  test(`REG-03 ${reason} is not the listed domain`, async () => {
    await domains.allow('acme.example', '*.labs.example', 'strasse.example')
    const { status, body } = await domains.request(address)
    const expected = address === 'ada@example' ? [400, 'invalid_email'] : [403, 'email_domain_not_allowed']
    assert.deepEqual([status, body.error], expected)
    assert.equal(mailbox.count(), 0)
  })

const admittedAddresses: [written: string, mailedTo: string][] = [
  ['ada@ACME.Example', 'ada@acme.example'],
  ['ada@acme.example.', 'ada@acme.example'],
  ['ada@\uFF41cme\u3002example', 'ada@acme.example'],
  ['ada@eu.labs.example', 'ada@eu.labs.example'],
  ['ada@a.b.labs.example', 'ada@a.b.labs.example'],
  ['ada@B\u00FCcher.example', 'ada@xn--bcher-kva.example'],
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
]
for (const [written, mailedTo] of admittedAddresses)
  test(`REG-03 a code for ${written} goes to ${mailedTo}, whose domain is listed`, async () => {
    await domains.allow('acme.example', '*.labs.example', 'b\u00FCcher.example')
    const { status, body } = await domains.request(written)
    assert.deepEqual([status, body.email], [200, mailedTo])
    // The mail server of the test shows A-labels in their script.
    const [to = ''] = (await mailbox.take()).to
    assert.equal(`ada@${domainToASCII(to.slice(4))}`, mailedTo)
  })

test('REG-17 what is no single plain address is refused, and no mail is sent', async () => {
  await domains.allow('acme.example')
  const tricks = [
    'ada@acme.example\r\nBcc: eve@evil.example',
    'ada@acme.example\nSubject: hello',
    'ada@acme.example, eve@evil.example',
    'ada@acme.example;eve@evil.example',
    'eve@evil.example@acme.example',
    '"eve@evil.example"@acme.example',
    'Ada <ada@acme.example>',
    'ada@acme.example(eve@evil.example)',
    'ada @acme.example',
    'ada@[127.0.0.1]',
    `${'a'.repeat(65)}@acme.example`,
    '@acme.example',
    'acme.example',
  ]
  for (const email of tricks) {
    const { status, body } = await domains.request(email)
    assert.deepEqual([status, body.error], [400, 'invalid_email'], email)
  }
  assert.equal(mailbox.count(), 0)
})

test('REG-18 mode and domains are decided at the end of a registration, whatever they were before', async () => {
  await domains.allow('acme.example', 'other.example')
  const begin = async (name: string) => {
    const emailProof = await domains.prove(`${name}@acme.example`)
    return startRegistration(world, { emailProof })
  }
  const [ada, grace, joan, mary] = [await begin('ada'), await begin('grace'), await begin('joan'), await begin('mary')]
  await domains.allow('other.example')
  const unlisted = await ada.finish()
  assert.deepEqual([unlisted.status, unlisted.error], [403, 'email_domain_not_allowed'])
  await domains.change({ 'registration.mode': 'closed' })
  assert.equal((await grace.finish()).error, 'registration_closed')
  await domains.change({ 'registration.mode': 'invited' })
  assert.equal((await joan.finish()).error, 'invitation_required')
  await domains.change({ 'registration.mode': 'open' })
  assert.equal((await mary.finish()).identity?.email, 'mary@acme.example')
  // What was refused has used no proof.
  const proofs = world.db.selectFrom('registration_email').select('email').where('proof_sha256', 'is not', null)
  assert.equal((await proofs.execute()).length, 3)
})

test('REG-18 no code is mailed in other modes, and a start presents what the end needs', async () => {
  await domains.allow('acme.example')
  const emailProof = await domains.prove('ada@acme.example')
  for (const [mode, error] of [
    ['open', 'email_not_required'],
    ['invited', 'invitation_required'],
    ['closed', 'registration_closed'],
  ]) {
    await domains.change({ 'registration.mode': mode })
    assert.equal((await domains.request('ada@acme.example')).body.error, error)
  }
  assert.equal(mailbox.count(), 0)
  await domains.allow('other.example')
  assert.equal((await startRegistration(world, { emailProof })).error, 'email_domain_not_allowed')
  await domains.allow('acme.example')
  world.pass(1800)
  assert.equal((await startRegistration(world, { emailProof })).error, 'email_verification_required')
})
