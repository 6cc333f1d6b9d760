import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { verifyAddress } from '#testing/people.ts'
import { acceptedUser, type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
let directory: Directory
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  directory = await openDirectory(world)
})
after(async () => {
  await world.close()
  await mailbox.close()
})

const newAddress = () => `${newName()}@example.org`
const addressed = (value: string) => ({ op: 'replace', path: 'emails', value: [{ value, primary: true }] })

/** Creates a user whose directory sets an address, which the user verifies. */
async function verifiedUser() {
  const user = await acceptedUser(world, directory)
  const path = `/Users/${user.id}`
  const email = newAddress()
  await directory.patched(path, addressed(email))
  await verifyAddress(world, mailbox, { headers: user.headers, identityId: user.id }, email)
  return { ...user, path, email }
}

for (const [how, operation] of [
  ['changes', addressed(newAddress())],
  ['removes', { op: 'remove', path: 'emails' }],
] as const)
  test(`SCM-21 a verified address is notified if a directory ${how} it`, async () => {
    const { userName, path, email } = await verifiedUser()
    await directory.patched(path, operation)
    assert.equal(mailbox.count(), 1, 'one mail')
    const { to, subject, text } = await mailbox.take()
    assert.deepEqual([to, subject], [[email], 'Your e-mail address was removed from Countersign'])
    assert.match(text, new RegExp(`^@${userName} at `))
    assert.equal(mailbox.count(), 0, 'no mail to the new address')
  })

test('SCM-21 neither an unverified former address nor one that stays is notified', async () => {
  const { path, email } = await verifiedUser()
  await directory.patched(path, { op: 'replace', path: 'displayName', value: 'Ada Byron' }, addressed(email))
  assert.equal(mailbox.count(), 0)
  await directory.patched(path, addressed(newAddress()))
  assert.equal(mailbox.count(), 1)
  assert.deepEqual((await mailbox.take()).to, [email])
  await directory.patched(path, addressed(newAddress()))
  assert.equal(mailbox.count(), 0)
})
