import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advanceDue } from '#accounts/recovery-links/completion.ts'
import { newCode, recoverAndWait, resetOf, sendReset, storeKeys } from '#testing/key-reset.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { day, recover, signIn } from '#testing/recovery.ts'
import { createSigner } from '#testing/signer.ts'
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

type Headers = Record<string, string>
type Owner = Parameters<typeof resetOf>[1]

/** Creates a user with all keys, who has lost what unlocks them. */
async function createOwner() {
  while (mailbox.count() > 0) await mailbox.take()
  const signer = await createSigner(world)
  await storeKeys(world, signer)
  return signer
}

/** Returns the code with which a reset is refused, or undefined. */
async function refusalOf(owner: Owner, parts?: Parameters<typeof resetOf>[2]): Promise<string | undefined> {
  return (await sendReset(world, owner, await resetOf(world, owner, parts))).body.error
}

/** Sends a request that must succeed. */
async function put(url: string, headers: Headers, payload: object): Promise<void> {
  const answer = await world.api.inject({ method: 'PUT', url, headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)
}

const putCode = (headers: Headers) =>
  put('/api/account/recovery', headers, { recoveryAuth: newCode(), ciphertext: 'later.recovery.wrap' })

/** Lists for each passkey of a user whether it can reset the keys. */
async function mayReset(headers: Headers): Promise<Record<string, boolean>> {
  const { passkeys } = (await world.api.inject({ url: '/api/auth/passkeys', headers })).json()
  return Object.fromEntries(
    passkeys.map(({ credentialId, mayResetKeys }: { credentialId: string; mayResetKeys: boolean }) => [
      credentialId,
      mayResetKeys,
    ]),
  )
}

test('KRS-13 keys that were unlocked during the hold are not reset', async () => {
  const signer = await createOwner()
  const { authenticator } = await recover(world, mailbox, signer)
  await putCode(await signer.signIn())
  world.pass(7 * day)
  await advanceDue(world.services)
  const owner = { ...signer, authenticator, headers: (await signIn(world, authenticator)).headers }
  assert.equal((await mayReset(owner.headers))[authenticator.credentialId], false)
  assert.equal(await refusalOf(owner), 'keys_not_resettable')
})

test('KRS-13 keys that were unlocked later are not reset, also if the wrap that shows it is gone', async () => {
  const owner = await recoverAndWait(world, mailbox, await createOwner())
  const { credentialId } = owner.authenticator
  assert.equal((await mayReset(owner.headers))[credentialId], true)
  await putCode(owner.headers)
  assert.equal((await mayReset(owner.headers))[credentialId], false)
  await put('/api/account/key-wraps', owner.headers, { keyWraps: [] })
  assert.equal(await refusalOf(owner), 'keys_not_resettable')
})

test('KRS-13 a passkey from before that was used since the recovery keeps the keys', async () => {
  const signer = await createOwner()
  const owner = await recoverAndWait(world, mailbox, signer)
  world.pass(60)
  await signer.signIn()
  assert.equal(await refusalOf(owner), 'keys_not_resettable')
})

test('KRS-13 of two recoveries, the passkey of the later one alone can reset the keys', async () => {
  const signer = await createOwner()
  const first = await recoverAndWait(world, mailbox, signer)
  const second = await recoverAndWait(world, mailbox, first)
  const may = await mayReset(second.headers)
  assert.deepEqual(
    [first, second].map(({ authenticator }) => may[authenticator.credentialId]),
    [false, true],
  )
  const { headers } = await signIn(world, first.authenticator)
  assert.equal(await refusalOf({ ...first, headers }), 'keys_not_resettable')
  assert.equal(await refusalOf(second), undefined)
})
