import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { recheckDomains } from '#organizations/domains/domain-check.ts'
import { leaseLosses } from '#organizations/domains/loss-store.ts'
import { notifyOfLosses } from '#organizations/domains/loss.ts'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { join } from '#testing/organization.ts'
import { verifyAddress } from '#testing/people.ts'

const [hour, day] = [3600, 24 * 3600]
let mailbox: Mailbox
let enterprise: Enterprise
before(async () => {
  mailbox = await openMailbox()
  const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' }
  enterprise = await openEnterprise({ environment: mail })
})
after(async () => {
  await enterprise.close()
  await mailbox.close()
})
beforeEach(async () => {
  mailbox.refuse()
  assert.deepEqual([mailbox.count(), await countLosses()], [0, 0])
})

/** Sends what is due, like a process that runs the maintenance tasks. */
const notify = () => notifyOfLosses(enterprise.world.kernel, enterprise.world.now())

/** Lets time pass, and returns the addresses that get a mail then. */
async function passTime(seconds: number): Promise<string[]> {
  enterprise.world.pass(seconds)
  await notify()
  const mails = await Promise.all(Array.from({ length: mailbox.count() }, () => mailbox.take()))
  return mails.flatMap(({ to }) => to).toSorted()
}

async function countLosses(): Promise<number> {
  return (await enterprise.world.db.selectFrom('organization_domain_loss').select('cause').execute()).length
}

let people = 0

async function addressee() {
  const person = await enterprise.world.person()
  people += 1
  const email = `owner${people}@mail.example`
  await verifyAddress(enterprise.world, mailbox, person, email)
  return { person, email }
}

/** Creates an organization, lets it verify a domain, and lets another one take that. */
async function lostDomain(name: string) {
  const { person, email } = await addressee()
  const former = await enterprise.organization(person)
  const domain = await enterprise.verifyDomain(former, name)
  const buyer = await enterprise.organization(await enterprise.world.person())
  await enterprise.verifyDomain(buyer, name)
  return { ...former, ...domain, email }
}

test('DOM-12 the owners get the mail from another process if one stops before it', async () => {
  const { email } = await lostDomain('stopped.example')
  assert.equal(await countLosses(), 1, 'the loss is committed, and nothing is mailed')
  const { db } = enterprise.world
  const until = new Date(enterprise.world.now().getTime() + 600_000)
  assert.equal((await leaseLosses(db, { count: 40, until }, enterprise.world.now())).length, 1)
  assert.deepEqual(await passTime(599), [], 'the process that stopped could still mail')
  assert.deepEqual(await passTime(1), [email])
  assert.deepEqual(await passTime(4 * day), [])
})

test('DOM-12 a mail that the server refuses for a while is attempted again, for the owners without it', async () => {
  const { organizationId, owner, email } = await lostDomain('refused.example')
  const other = await addressee()
  await join(enterprise.world, { id: organizationId, owner, role: 'owner' }, other.person)
  mailbox.refuse(451, email)
  assert.deepEqual(await passTime(0), [other.email])
  assert.deepEqual(await passTime(4), [], 'not before the delay is over')
  assert.deepEqual(await passTime(hour), [])
  mailbox.refuse()
  assert.deepEqual(await passTime(hour), [email])
  assert.deepEqual(await passTime(4 * day), [])
})

test('DOM-12 the attempts end after three days', async () => {
  await lostDomain('unreachable.example')
  mailbox.refuse(451)
  for (let passed = 0; passed < 2.9 * day; passed += hour) await passTime(hour)
  assert.equal(await countLosses(), 1)
  for (let passed = 0; passed < 2 * day; passed += hour) await passTime(hour)
  assert.equal(await countLosses(), 0)
})

test('DOM-12 an address that the mail server rejects for good is attempted once', async () => {
  await lostDomain('rejected.example')
  mailbox.refuse(550)
  assert.deepEqual(await passTime(0), [])
  assert.equal(await countLosses(), 0)
})

test('DOM-12 of several processes, one sends the mail', async () => {
  const { email } = await lostDomain('raced.example')
  await Promise.all(Array.from({ length: 4 }, notify))
  assert.deepEqual(await passTime(4 * day), [email])
})

test('DOM-12 an owner who left before the mail gets none, and neither do those of a deleted organization', async () => {
  const { organizationId, owner, email } = await lostDomain('left.example')
  const other = await addressee()
  const { memberId } = await join(enterprise.world, { id: organizationId, owner, role: 'owner' }, other.person)
  mailbox.refuse(451)
  await passTime(0)
  mailbox.refuse()
  const left = await enterprise.send(other.person, 'DELETE', `/${organizationId}/members/${memberId}`)
  assert.equal(left.statusCode, 204, left.body)
  assert.deepEqual(await passTime(hour), [email])

  const deleted = await lostDomain('deleted.example')
  const headers = await deleted.owner.signIn()
  const answer = await enterprise.send({ headers }, 'DELETE', `/${deleted.organizationId}`)
  assert.equal(answer.statusCode, 204, answer.body)
  assert.deepEqual([await passTime(0), await countLosses()], [[], 0])
})

test('DOM-12 a domain that was verified again before the mail is no loss', async () => {
  const { dns, send } = enterprise
  const { owner, organizationId, domainId, challenge } = await lostDomain('back.example')
  dns.setTexts(challenge.name, challenge.value)
  const verified = await send(owner, 'POST', `/${organizationId}/domains/${domainId}/verify`)
  assert.equal(verified.statusCode, 200, verified.body)
  assert.deepEqual([await passTime(0), await countLosses()], [[], 0])
})

test("DOM-12 a member's check at the end of the seven days notifies the owners of the loss", async () => {
  const { world, dns, send } = enterprise
  const { person, email } = await addressee()
  const acme = await enterprise.organization(person)
  const { domainId, challenge } = await enterprise.verifyDomain(acme, 'checked.example')
  dns.setTexts(challenge.name)
  world.pass(day)
  await recheckDomains(world.kernel, world.now())
  assert.deepEqual(await passTime(0), [email], 'the record is missing')
  world.pass(7 * day)
  const answer = await send(person, 'POST', `/${acme.organizationId}/domains/${domainId}/verify`)
  assert.equal(answer.json().error, 'domain_verification_failed')
  assert.deepEqual(await passTime(0), [email])
})
