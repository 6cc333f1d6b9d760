import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { challengeNameOf, domainOfEmail } from '@countersign/protocol/formats/domain'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { startNameServer } from '#testing/name-server.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { recheckDomains } from '#organizations/domains/domain-check.ts'
import { isVerifiedFor, findVerifiedDomain } from '#organizations/domains/domain.ts'

const dns = await startNameServer()
let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { DNS_SERVERS: dns.address } })
})
after(async () => {
  await world.close()
  await dns.close()
})

type Admin = Pick<Person, 'headers'> & { organizationId: OrganizationId }

async function newOrganization(): Promise<Admin> {
  const owner = await world.person()
  return { headers: owner.headers, organizationId: (await createOrganization(world, owner)).id }
}

const send = (method: 'GET' | 'POST' | 'DELETE', { headers, organizationId }: Admin, path = '', payload?: object) =>
  businessRequest(world, { headers }, `${method} /organizations/${organizationId}/domains${path}`, payload)

const claim = (admin: Admin, domain: string) => send('POST', admin, '', { domain })
const verify = (admin: Admin, { domainId }: OrganizationDomain) => send('POST', admin, `/${domainId}/verify`)
const list = async (admin: Admin) => (await send('GET', admin)).json<{ domains: OrganizationDomain[] }>().domains

async function claimed(admin: Admin, domain: string): Promise<OrganizationDomain> {
  const answer = await claim(admin, domain)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json<{ domain: OrganizationDomain }>().domain
}

/** Publishes the DNS record that a claim requires. */
const publish = (...claims: OrganizationDomain[]) => {
  for (const { challenge } of claims) dns.setTexts(challenge.name, ...claims.map((each) => each.challenge.value))
}

async function acts(organizationId: OrganizationId): Promise<string[]> {
  const rows = await world.db
    .selectFrom('audit_event')
    .select('action')
    .where('organization_id', '=', organizationId)
    .where('action', 'like', 'organization.domain.%')
    .orderBy('event_id')
    .execute()
  return rows.map(({ action }) => action.replace('organization.domain.', ''))
}

test('an organization that claims a domain and publishes its DNS record gets the domain', async () => {
  const admin = await newOrganization()
  const pending = await claimed(admin, 'Acme.Example')
  assert.equal(pending.domain, 'acme.example')
  assert.equal(pending.status, 'pending')
  assert.equal(pending.challenge.name, '_countersign-challenge.acme.example')
  assert.match(pending.challenge.value, /^[\w-]{43}$/)
  assert.deepEqual(await list(admin), [pending])

  const early = await verify(admin, pending)
  assert.deepEqual(
    [early.statusCode, early.json().error, early.json().found],
    [409, 'domain_verification_failed', 'nothing'],
  )
  assert.equal(await isVerifiedFor(world.db, admin.organizationId, 'acme.example'), false)

  publish(pending)
  const verified = await verify(admin, pending)
  assert.equal(verified.statusCode, 200, verified.body)
  const { domain } = verified.json<{ domain: OrganizationDomain }>()
  const now = world.now().toISOString()
  assert.deepEqual(domain, { ...pending, status: 'verified', verifiedAt: now, checkedAt: now })
  assert.deepEqual(await list(admin), [domain])
  assert.deepEqual(await findVerifiedDomain(world.db, 'acme.example'), { organizationId: admin.organizationId })
  assert.deepEqual(await acts(admin.organizationId), ['added', 'verified'])

  assert.equal((await verify(admin, pending)).statusCode, 200)
  assert.deepEqual(await acts(admin.organizationId), ['added', 'verified'], 'the second check changes nothing')
})

test('DOM-01 of sixteen organizations that verify one domain concurrently, one gets it', async () => {
  const claims = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const admin = await newOrganization()
      return { admin, claim: await claimed(admin, 'raced.example') }
    }),
  )
  const admins = claims.map(({ admin }) => admin)
  publish(...claims.map((each) => each.claim))
  const answers = await Promise.all(claims.map((each) => verify(each.admin, each.claim)))
  const codes = answers.map((answer) => (answer.statusCode === 200 ? 'verified' : answer.json().error))
  assert.deepEqual(codes.toSorted(), [...Array.from({ length: 15 }, () => 'domain_taken'), 'verified'])
  assert.ok(answers.every(({ statusCode }) => statusCode === 200 || statusCode === 409))

  const winner = codes.indexOf('verified')
  const states = await Promise.all(admins.map(async (admin) => (await list(admin))[0]?.status))
  assert.deepEqual(
    states,
    admins.map((_, index) => (index === winner ? 'verified' : 'pending')),
  )
  const holder = await findVerifiedDomain(world.db, 'raced.example')
  assert.equal(holder?.organizationId, admins[winner]?.organizationId)
})

test('DOM-11 of sixteen organizations that concurrently take one domain of another, one gets it', async () => {
  const holder = await newOrganization()
  const held = await claimed(holder, 'handed.example')
  publish(held)
  assert.equal((await verify(holder, held)).statusCode, 200)
  const takers = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const admin = await newOrganization()
      return { admin, claim: await claimed(admin, 'handed.example') }
    }),
  )
  publish(...takers.map((each) => each.claim))
  world.pass(24 * 3600)
  const [answers] = await Promise.all([
    Promise.all(takers.map((each) => verify(each.admin, each.claim))),
    recheckDomains(world.kernel, world.now()),
  ])
  const codes = answers.map((answer) => (answer.statusCode === 200 ? 'verified' : answer.json().error))
  assert.deepEqual(codes.toSorted(), [...Array.from({ length: 15 }, () => 'domain_taken'), 'verified'])
  const winner = takers[codes.indexOf('verified')]?.admin
  assert.equal((await findVerifiedDomain(world.db, 'handed.example'))?.organizationId, winner?.organizationId)
  assert.equal((await list(holder))[0]?.status, 'pending')
  assert.equal((await acts(holder.organizationId)).filter((act) => act === 'verification_expired').length, 1)
})

test('a domain that its organization removes, or that is deleted with it, can be verified by another', async () => {
  const [first, second, third] = [await newOrganization(), await newOrganization(), await newOrganization()]
  const ofFirst = await claimed(first, 'passed-on.example')
  const ofSecond = await claimed(second, 'passed-on.example')
  const ofThird = await claimed(third, 'passed-on.example')
  publish(ofFirst, ofSecond, ofThird)
  assert.equal((await verify(first, ofFirst)).statusCode, 200)
  assert.equal((await verify(second, ofSecond)).statusCode, 409)

  assert.equal((await send('DELETE', first, `/${ofFirst.domainId}`)).statusCode, 204)
  assert.deepEqual(await list(first), [])
  assert.deepEqual(await acts(first.organizationId), ['added', 'verified', 'removed'])
  assert.equal((await verify(first, ofFirst)).statusCode, 404)
  assert.equal((await send('DELETE', first, `/${ofFirst.domainId}`)).statusCode, 404)
  assert.equal((await verify(second, ofSecond)).statusCode, 200)

  const url = `/api/organizations/${second.organizationId}`
  const deleted = await world.business.inject({ method: 'DELETE', url, headers: second.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal(await findVerifiedDomain(world.db, 'passed-on.example'), undefined)
  assert.equal((await verify(third, ofThird)).statusCode, 200)
})

test('DOM-01 a claim without proof, and its removal, take nothing from the organization with the domain', async () => {
  const [holder, thief, other] = [await newOrganization(), await newOrganization(), await newOrganization()]
  const [held, proved] = [await claimed(holder, 'coveted.example'), await claimed(other, 'coveted.example')]
  publish(held, proved)
  assert.equal((await verify(holder, held)).statusCode, 200)
  const unproved = await claimed(thief, 'coveted.example')
  assert.equal((await send('DELETE', thief, `/${unproved.domainId}`)).statusCode, 204)

  assert.equal((await list(holder))[0]?.status, 'verified')
  const { organizationId } = holder
  assert.deepEqual(await findVerifiedDomain(world.db, 'coveted.example'), { organizationId })
  const taken = await verify(other, proved)
  assert.deepEqual([taken.statusCode, taken.json().error], [409, 'domain_taken'])
})

test('DOM-02 only the DNS record of this claim at its exact name verifies the domain', async () => {
  const [admin, other] = [await newOrganization(), await newOrganization()]
  const { challenge, ...requested } = await claimed(admin, 'mail.proof.example')
  const { challenge: others } = await claimed(other, 'mail.proof.example')
  const { challenge: ofParent } = await claimed(admin, 'proof.example')
  const { name, value } = challenge
  const refused = async (found: string, why: string) => {
    const answer = await verify(admin, { challenge, ...requested })
    const { error, found: instead } = answer.json<Record<string, string>>()
    assert.deepEqual([answer.statusCode, error, instead], [409, 'domain_verification_failed', found], why)
    assert.equal(await isVerifiedFor(world.db, admin.organizationId, 'mail.proof.example'), false, why)
  }

  dns.setTexts(name, others.value)
  await refused('other_text', 'the text of another organization')
  dns.setTexts(name, ofParent.value)
  await refused('other_text', 'the text of another claim')
  dns.setTexts(ofParent.name, value)
  dns.setTexts('mail.proof.example', value)
  dns.setTexts(name)
  await refused('nothing', 'the text at the parent domain, and at the domain itself')
  for (const text of [
    `${value} `,
    ` ${value}`,
    `v=1 ${value}`,
    `"${value}"`,
    value.toUpperCase(),
    value.slice(1),
    '',
  ]) {
    dns.setTexts(name, text)
    await refused('other_text', JSON.stringify(text))
  }
  dns.setTexts(name, value.slice(0, 20), value.slice(20))
  await refused('other_text', 'the text split over two records')
  dns.setAlias(name, 'elsewhere.example', value)
  await refused('alias', 'the text at the target of an alias')

  dns.setTexts(name, 'something else', [value.slice(0, 20), value.slice(20)], others.value)
  assert.equal((await verify(admin, { challenge, ...requested })).statusCode, 200, 'one record, in two strings')
})

test('DOM-03 each domain of an organization needs its own verification, including subdomains', async () => {
  const admin = await newOrganization()
  const [proved, unproved] = [await claimed(admin, 'one.example'), await claimed(admin, 'two.example')]
  await claimed(admin, 'mail.one.example')
  publish(proved)
  assert.equal((await verify(admin, proved)).statusCode, 200)
  assert.equal((await verify(admin, unproved)).statusCode, 409)
  const verified = await Promise.all(
    ['one.example', 'two.example', 'mail.one.example', 'example', 'no-one.example'].map((domain) =>
      isVerifiedFor(world.db, admin.organizationId, domain),
    ),
  )
  assert.deepEqual(verified, [true, false, false, false, false])
  const other = await newOrganization()
  assert.equal(await isVerifiedFor(world.db, other.organizationId, 'one.example'), false)
})

test('DOM-04 claiming an invalid or public domain is rejected', async () => {
  const admin = await newOrganization()
  const refused: Record<string, string[]> = {
    invalid_domain: ['127.0.0.1', '[::1]', 'intranet', 'ann@acme.example', 'https://acme.example', 'acme.example/x'],
    public_domain: ['co.uk', 'github.io', 'gmail.com', 'GMAIL.com.', 'ｇｍａｉｌ.com'],
  }
  for (const [error, domains] of Object.entries(refused))
    for (const domain of domains) {
      const answer = await claim(admin, domain)
      assert.deepEqual([answer.statusCode, answer.json().error], [400, error], domain)
    }
  assert.deepEqual(await list(admin), [])
})

test('DOM-05 DOM-07 an e-mail address matches a verified domain in any spelling, and in no other way', async () => {
  const admin = await newOrganization()
  const domain = await claimed(admin, 'BÜCHER.example.')
  assert.equal(domain.domain, 'xn--bcher-kva.example')
  publish(domain)
  assert.equal((await verify(admin, domain)).statusCode, 200)
  const isOurs = async (email: string) => {
    const at = domainOfEmail(email)
    return at !== undefined && (await isVerifiedFor(world.db, admin.organizationId, at))
  }
  for (const email of ['a@bücher.example', 'a@XN--BCHER-KVA.Example', 'a@ＢÜＣＨＥＲ.example', 'a@bücher.example.'])
    assert.equal(await isOurs(email), true, email)
  const tricks = [
    ...['a@evil.example\\@bücher.example', '"a@bücher.example"@evil.example', 'a@bücher.example.evil.example'],
    ...['a@mail.bücher.example', 'a＠bücher.example', 'a@evil.example＠bücher.example', 'a@bucher.example'],
    ...['a@bücher.exаmple', 'a@bücher.example, b@evil.example', 'bücher.example'],
  ]
  for (const email of tricks) assert.equal(await isOurs(email), false, email)
})

test('DOM-07 a domain can be claimed once in any spelling, and a lookalike is another domain', async () => {
  const admin = await newOrganization()
  await claimed(admin, 'twin.example')
  for (const spelling of ['TWIN.example', 'twin.example.', 'ｔｗｉｎ.example', 'tw\u00ADin.example']) {
    const again = await claim(admin, spelling)
    assert.deepEqual([again.statusCode, again.json().error], [409, 'domain_already_claimed'], spelling)
  }
  const twin = await claimed(admin, 'twіn.example')
  assert.match(twin.domain, /^xn--/)
  assert.equal(challengeNameOf(twin.domain), twin.challenge.name)
})

test('DOM-08 failing or flooding name servers change nothing, and the member gets an error', async () => {
  const admin = await newOrganization()
  const verified = await claimed(admin, 'shaky.example')
  publish(verified)
  assert.equal((await verify(admin, verified)).statusCode, 200)
  const before = await list(admin)
  const { name, value } = verified.challenge
  const troubles = [
    () => dns.fail(name, 'SERVFAIL'),
    () => dns.fail(name, 'REFUSED'),
    () => dns.setTexts(name, ...Array.from({ length: 10_000 }, () => 'z')),
    () => dns.setTexts(name, value, ...Array.from({ length: 250 }, () => 'z'.repeat(250))),
  ]
  for (const trouble of troubles) {
    trouble()
    const answer = await verify(admin, verified)
    assert.deepEqual([answer.statusCode, answer.json().error], [503, 'temporarily_unavailable'])
    assert.ok(Number(answer.headers['retry-after']) > 0)
    assert.deepEqual(await list(admin), before)
  }
  assert.deepEqual(await acts(admin.organizationId), ['added', 'verified'])
})

test('only members with manage_sso can see domains, and only those of their organization', async () => {
  const [admin, other] = [await newOrganization(), await newOrganization()]
  const domain = await claimed(admin, 'guarded.example')
  const strangers = { headers: other.headers, organizationId: admin.organizationId }
  for (const answer of await Promise.all([
    send('GET', strangers),
    claim(strangers, 'other.example'),
    verify(strangers, domain),
    send('DELETE', strangers, `/${domain.domainId}`),
    verify(other, domain),
    send('DELETE', other, `/${domain.domainId}`),
  ]))
    assert.equal(answer.statusCode, 404, answer.body)
  assert.deepEqual(await list(admin), [domain])
})

test('ORG-04 among the members, only owners and admins manage domains', async () => {
  const owner = await newOrganization()
  const { organizationId } = owner
  for (const role of ['admin', 'signer', 'member', 'viewer'] as const) {
    const member = await world.person()
    await join(world, { id: organizationId, owner, role }, member)
    const asking = { headers: member.headers, organizationId }
    const domain = await claimed(owner, `${role}.guarded.example`)
    const answers = [
      await send('GET', asking),
      await claim(asking, `own.${role}.guarded.example`),
      await verify(asking, domain),
      await send('DELETE', asking, `/${domain.domainId}`),
    ]
    const statuses = answers.map(({ statusCode }) => statusCode)
    assert.deepEqual(statuses, role === 'admin' ? [200, 201, 409, 204] : [403, 403, 403, 403], role)
  }
  assert.equal((await list(owner)).length, 4, "the three claims that no member could remove, and the admin's claim")
})

test('ORG-04 a member who loses the permission during the DNS lookup verifies no domain', async () => {
  const owner = await newOrganization()
  const { organizationId } = owner
  const admin = await world.person()
  const { memberId } = await join(world, { id: organizationId, owner, role: 'admin' }, admin)
  const domain = await claimed(owner, 'late.guarded.example')
  publish(domain)
  const answered = Promise.withResolvers<void>()
  dns.holdUntil(answered.promise)
  const isQueried = dns.has(new Set(dns.queries).size + 1)
  const verifying = verify({ headers: admin.headers, organizationId }, domain)
  await isQueried
  const path = `/organizations/${organizationId}/members/${memberId}` as const
  const demoted = await businessRequest(world, owner, `PATCH ${path}`, { role: 'viewer' })
  assert.equal(demoted.statusCode, 200, demoted.body)
  answered.resolve()
  const answer = await verifying
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'insufficient_scope'], answer.body)
  assert.deepEqual(await list(owner), [domain])
  assert.deepEqual(await acts(organizationId), ['added'])
})

test('GRW-15 an organization can claim at most fifty domains', async () => {
  const admin = await newOrganization()
  for (let count = 0; count < 50; count += 1) await claimed(admin, `d${count}.many.example`)
  const answer = await claim(admin, 'one-more.many.example')
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'too_many_domains'])
})

test('domain verification is limited to ten attempts an hour for each organization', async () => {
  const limited = await createWorld({ environment: { DNS_SERVERS: dns.address }, rateLimits: true })
  const unlimited = world
  world = limited
  try {
    const [admin, other] = [await newOrganization(), await newOrganization()]
    const domain = await claimed(admin, 'asked-often.example')
    const input = dns.queries.length
    for (let count = 0; count < 10; count += 1) assert.equal((await verify(admin, domain)).statusCode, 409)
    const answer = await verify(admin, domain)
    assert.deepEqual([answer.statusCode, answer.json().error], [429, 'rate_limited'])
    assert.equal(dns.queries.length - input, 20, 'ten lookups for an alias and for texts')
    assert.equal((await verify(other, await claimed(other, 'asked-often.example'))).statusCode, 409)
    limited.pass(3600)
    assert.equal((await verify(admin, domain)).statusCode, 409)
  } finally {
    world = unlimited
    await limited.close()
  }
})
