import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import type { OrganizationId } from '@countersign/protocol/ids'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { startNameServer } from '#testing/name-server.ts'
import { editAddress } from '#testing/people.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { recheckDomains } from '#organizations/domains/domain-check.ts'
import { isVerifiedFor } from '#organizations/domains/domain.ts'
import { notifyOfLosses } from '#organizations/domains/loss.ts'

const dns = await startNameServer()
const day = 24 * 3600
let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' }
  world = await createWorld({ environment: { DNS_SERVERS: dns.address, ...mail } })
})
after(async () => {
  await world.close()
  await Promise.all([dns.close(), mailbox.close()])
})
beforeEach(() => assert.equal(mailbox.count(), 0, 'no unexpected mail'))

type Owned = Awaited<ReturnType<typeof verifiedDomain>>
let owners = 0

/** Creates an organization with a verified domain, whose owner has a verified e-mail address. */
async function verifiedDomain(domain: string) {
  const { headers, identityId } = await world.person()
  owners += 1
  const email = `owner${owners}@mail.example`
  const identity = `/api/identities/${identityId}/email`
  await world.api.inject({ method: 'POST', url: identity, headers, payload: { email } })
  const code = codeIn(await mailbox.take())
  await world.api.inject({ method: 'POST', url: `${identity}/verify`, headers, payload: { code } })

  const send = (method: 'GET' | 'POST', path: string, payload?: object) =>
    world.business.inject({ method, url: `/api/organizations${path}`, headers, ...(payload && { payload }) })
  const created = await send('POST', '', { name: 'Acme', identityId })
  const organizationId = created.json<{ organization: { id: OrganizationId } }>().organization.id
  const path = `/${organizationId}/domains`
  const claimed = await send('POST', path, { domain })
  const { domainId, challenge } = claimed.json<{ domain: OrganizationDomain }>().domain
  const verify = () => send('POST', `${path}/${domainId}/verify`)
  const publish = () => dns.setTexts(challenge.name, challenge.value)
  publish()
  const verified = await verify()
  assert.equal(verified.statusCode, 200, verified.body)
  return {
    organizationId,
    identityId,
    email,
    challenge,
    verify,
    publish,
    unpublish: () => dns.setTexts(challenge.name),
    isVerified: () => isVerifiedFor(world.db, organizationId, domain),
    read: async () => (await send('GET', path)).json<{ domains: OrganizationDomain[] }>().domains[0],
    /** Lists the audit events of the domain after its verification, with their actors. */
    async acts() {
      const rows = await world.db
        .selectFrom('audit_event')
        .select(['action', 'actor'])
        .where('organization_id', '=', organizationId)
        .where('action', 'like', 'organization.domain.%')
        .orderBy('event_id')
        .execute()
      return rows.slice(2).map(({ action, actor }) => `${action.replace('organization.domain.', '')} by ${actor}`)
    },
  }
}

/** Advances the clock in steps, and runs the domain check and the notices of losses at each. */
async function passTime(seconds: number, stepSeconds = 6 * 3600): Promise<void> {
  for (let left = seconds; left > 0; left -= stepSeconds) {
    world.pass(Math.min(left, stepSeconds))
    await recheckDomains(world.kernel, world.now())
    await notifyOfLosses(world.kernel, world.now())
  }
}

/** Returns the mail about the loss of a domain. */
async function takeNotice() {
  await notifyOfLosses(world.kernel, world.now())
  return mailbox.take()
}

const questionsFor = ({ challenge }: Owned) =>
  dns.queries.filter((requested) => requested === `TXT ${challenge.name}`).length

test('a verified domain is checked once a day, however many processes run the check', async () => {
  const owned = await verifiedDomain('kept.example')
  const requested = questionsFor(owned)
  await passTime(day - 3600)
  assert.equal(questionsFor(owned) - requested, 0)
  world.pass(3600)
  await Promise.all(Array.from({ length: 4 }, () => recheckDomains(world.kernel, world.now())))
  assert.equal(questionsFor(owned) - requested, 1)
  assert.equal((await owned.read())?.checkedAt, world.now().toISOString())
  await passTime(5 * day)
  assert.equal(questionsFor(owned) - requested, 6)
  assert.equal((await owned.read())?.status, 'verified')
  assert.deepEqual(await owned.acts(), [])
})

test('DOM-09 the latest verification takes a domain at once if its holder has no DNS record', async () => {
  const former = await verifiedDomain('sold.example')
  const buyer = await verifiedDomain('sold.example')
  assert.deepEqual([await former.isVerified(), await buyer.isVerified()], [false, true])
  assert.equal((await former.read())?.status, 'pending')
  assert.deepEqual(await former.acts(), ['verification_expired by system'])
  const notice = await takeNotice()
  assert.deepEqual(notice.to, [former.email])
  assert.match(notice.subject, /sold\.example now belongs to another organization/)
  assert.ok(notice.text.includes(former.challenge.value))

  await passTime(2 * day)
  assert.equal(await buyer.isVerified(), true)
  former.publish()
  assert.equal(await buyer.isVerified(), true, 'a DNS record alone restores no domain')
  const back = await former.verify()
  assert.equal(back.statusCode, 200, back.body)
  assert.deepEqual([await former.isVerified(), await buyer.isVerified()], [true, false])
  assert.deepEqual((await takeNotice()).to, [buyer.email])
})

test('DOM-09 the latest verification takes a failing domain at once, before its seven days are over', async () => {
  const former = await verifiedDomain('failing.example')
  former.unpublish()
  await passTime(day)
  assert.equal((await former.read())?.status, 'failing')
  await mailbox.take()
  const buyer = await verifiedDomain('failing.example')
  assert.deepEqual([await former.isVerified(), await buyer.isVerified()], [false, true])
  assert.deepEqual((await takeNotice()).to, [former.email])
  await passTime(8 * day)
  assert.equal((await former.read())?.status, 'pending')
  assert.equal(await buyer.isVerified(), true)
})

test("DOM-10 adding a DNS record while the holder's record exists does not take the domain", async () => {
  const holder = await verifiedDomain('shared.example')
  holder.unpublish()
  const thief = await verifiedDomain('shared.example')
  assert.deepEqual((await takeNotice()).to, [holder.email])
  dns.setTexts(holder.challenge.name, holder.challenge.value, thief.challenge.value)
  const refused = await holder.verify()
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'domain_taken'])
  assert.equal(await thief.isVerified(), true)
  holder.publish()
  assert.equal((await holder.verify()).statusCode, 200, 'removing the other record takes the domain')
  assert.deepEqual((await takeNotice()).to, [thief.email])
})

test('DOM-06 a domain without its DNS record is lost after seven days, and its owners are notified', async () => {
  const owned = await verifiedDomain('gone.example')
  owned.unpublish()
  await passTime(day)
  const warning = await mailbox.take()
  assert.deepEqual(warning.to, [owned.email])
  assert.match(warning.subject, /gone\.example/)
  assert.match(warning.text, /Acme/)
  assert.ok(warning.text.includes(owned.challenge.name) && warning.text.includes(owned.challenge.value))
  const failing = await owned.read()
  assert.equal(failing?.status, 'failing')
  assert.equal(failing.failingSince, world.now().toISOString())
  assert.equal(await owned.isVerified(), true)

  await passTime(7 * day - 3600)
  assert.equal(mailbox.count(), 0, 'owners are notified once')
  assert.equal(await owned.isVerified(), true)
  await passTime(3600)
  assert.equal(await owned.isVerified(), false)
  const { to, subject } = await mailbox.take()
  assert.deepEqual(to, [owned.email])
  assert.match(subject, /no longer verified/)
  const { status, verifiedAt, failingSince } = (await owned.read()) ?? {}
  assert.deepEqual([status, verifiedAt, failingSince], ['pending', null, null])
  assert.deepEqual(await owned.acts(), ['verification_failing by system', 'verification_expired by system'])

  await passTime(2 * day)
  owned.publish()
  assert.equal((await owned.verify()).statusCode, 200)
  assert.equal(await owned.isVerified(), true)
})

test('a restored DNS record makes a failing domain verified again, whether a user or the check finds it', async () => {
  const owned = await verifiedDomain('back.example')
  owned.unpublish()
  await passTime(day)
  await mailbox.take()
  owned.publish()
  await passTime(day)
  assert.equal((await owned.read())?.status, 'verified')

  owned.unpublish()
  await passTime(day)
  await mailbox.take()
  owned.publish()
  assert.equal((await owned.verify()).statusCode, 200)
  const { status, failingSince } = (await owned.read()) ?? {}
  assert.deepEqual([status, failingSince], ['verified', null])
  assert.deepEqual(await owned.acts(), [
    'verification_failing by system',
    'verified by system',
    'verification_failing by system',
    'verified by user',
  ])
  await passTime(8 * day)
  assert.equal(await owned.isVerified(), true)
})

test("a user's check that finds no DNS record notifies the owners", async () => {
  const owned = await verifiedDomain('looked-at.example')
  owned.unpublish()
  const answer = await owned.verify()
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'domain_verification_failed'])
  assert.equal((await owned.read())?.status, 'failing')
  assert.equal(await owned.isVerified(), true)
  await recheckDomains(world.kernel, world.now())
  assert.deepEqual((await mailbox.take()).to, [owned.email])
  assert.deepEqual(await owned.acts(), ['verification_failing by system'])
  owned.publish()
  await owned.verify()
})

test('PEO-43 an owner’s address that an operator set gets no notice', async () => {
  const owned = await verifiedDomain('edited.example')
  await editAddress(world, owned.identityId, 'unverified@mail.example')
  await Promise.all([mailbox.take(), mailbox.take()])
  owned.unpublish()
  await passTime(day)
  assert.deepEqual([(await owned.read())?.status, mailbox.count()], ['failing', 0])
  owned.publish()
  await owned.verify()
})

test('a notification mail that fails is sent again a day later', async () => {
  const owned = await verifiedDomain('unsent.example')
  owned.unpublish()
  mailbox.refuse(451)
  await passTime(day)
  assert.equal((await owned.read())?.status, 'failing')
  mailbox.refuse()
  await passTime(day)
  assert.deepEqual((await mailbox.take()).to, [owned.email])
  owned.publish()
  await owned.verify()
})

test('DOM-08 unresponsive name servers change nothing for a week, and then count as a missing record', async () => {
  const owned = await verifiedDomain('silent.example')
  dns.fail(owned.challenge.name, 'SERVFAIL')
  const before = await owned.read()
  const requested = questionsFor(owned)
  await passTime(day + 5 * 3600, 3600)
  assert.deepEqual(await owned.read(), before)
  assert.equal(questionsFor(owned) - requested, 6, 'name servers are queried again each hour')
  await passTime(6 * day - 6 * 3600, 3600)
  assert.deepEqual(await owned.read(), before)
  await passTime(3600)
  assert.equal((await owned.read())?.status, 'failing')
  assert.deepEqual((await mailbox.take()).to, [owned.email])
  assert.equal(await owned.isVerified(), true)
  await passTime(7 * day)
  assert.equal(await owned.isVerified(), false)
  assert.match((await mailbox.take()).subject, /no longer verified/)
})

test('DOM-08 unresponsive name servers delay the check of other domains by seconds only', async () => {
  const silent = await verifiedDomain('unheard.example')
  const sound = await verifiedDomain('heard.example')
  dns.stayAway(silent.challenge.name)
  world.pass(day)
  using watch = startStopwatch()
  await recheckDomains(world.kernel, world.now())
  assert.ok(watch.milliseconds() < 8000)
  assert.equal((await sound.read())?.checkedAt, world.now().toISOString())
  assert.equal((await silent.read())?.status, 'verified')
  silent.publish()
})
