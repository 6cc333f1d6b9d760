import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { notifyOfCompletion, notifyOfKeyReset, notifyOthers } from '#accounts/recovery-links/notice.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { sibling } from '#testing/operators.ts'
import { verifyAddress } from '#testing/people.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

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

const week = 7 * 24 * 3600

test('RCL-06 the answer does not wait for the mails to siblings, whose number it would tell', async () => {
  const person = await world.person()
  await verifyAddress(world, mailbox, await sibling(world, person), 'held@example.org')
  await verifyAddress(world, mailbox, person, 'link@example.org')
  world.pass(week)
  const release = mailbox.hold('held@example.org')
  const issued = await world.api.inject({
    ...{ method: 'POST', url: `/api/admin/identities/${person.identityId}/recovery-links`, headers: world.admin },
    payload: { delivery: 'mail', reason: 'Lost the phone' },
  })
  assert.equal(issued.statusCode, 201, issued.body)
  assert.deepEqual((await mailbox.take()).to, ['link@example.org'])
  assert.equal(mailbox.count(), 0)
  // Its mail was not given up: the answer came before.
  release()
  assert.deepEqual((await mailbox.take()).to, ['held@example.org'])
})

test('RCL-10 the log of failed notices has nothing that the identities of a user share', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  await verifyAddress(world, mailbox, other, 'refused@example.org')
  const lines: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const write = (line: string) => {
    lines.push(line)
    if (lines.length === 3) resolve()
  }
  const kernel = { ...world.kernel, log: pino({ level: 'warn' }, { write }) }
  mailbox.refuse(550)
  await notifyOfCompletion(kernel, person.userId)
  await notifyOfKeyReset(kernel, person.userId)
  await notifyOthers(kernel, { userId: person.userId, except: 'link@example.org', stop: 'cs_rs_stop' })
  await promise
  mailbox.refuse()
  for (const line of lines) {
    assert.match(line, /"reason":"undeliverable","msg":"notice of a recovery failed"/)
    for (const secret of [person.userId, other.identityId, other.handle, 'refused@', 'cs_rs_stop'])
      assert.ok(!line.includes(secret), line)
  }
})
