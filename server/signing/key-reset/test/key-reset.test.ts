import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { listMissingKeyProofs, readKeyHistory } from '@countersign/protocol/formats/signing/key-history'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { pruneFormer } from '#accounts/keys/former-key.ts'
import { advanceDue } from '#accounts/recovery-links/completion.ts'
import { auditEventsOf } from '#testing/audit-events.ts'
import { type Mailbox, openMailbox } from '#testing/mailbox.ts'
import { newCode, recoverAndWait, resetOf, sendReset, storeKeys } from '#testing/key-reset.ts'
import { sibling, suspend } from '#testing/operators.ts'
import { day, recover, send, signIn } from '#testing/recovery.ts'
import { createSigner, newSigningPair, rotationOf, signingRequesterOf, testLog } from '#testing/signer.ts'
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
beforeEach(emptyMailbox)

async function emptyMailbox(): Promise<void> {
  while (mailbox.count() > 0) await mailbox.take()
}

const errorOf = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]
const get = async (url: string, headers: Record<string, string> = {}) =>
  (await world.api.inject({ url, headers })).json()

/** Lists for each passkey of a user, oldest first, whether it can reset the keys. */
async function mayReset({ headers }: Pick<Person, 'headers'>): Promise<boolean[]> {
  const { passkeys } = await get('/api/auth/passkeys', headers)
  return passkeys.map(({ mayResetKeys }: { mayResetKeys: boolean }) => mayResetKeys)
}

/** Creates a user with all keys, who has lost what unlocks them, and recovered by a link whose hold is over. */
async function recovered() {
  const signer = await createSigner(world)
  const keys = await storeKeys(world, signer)
  return { old: signer, keys, owner: await recoverAndWait(world, mailbox, signer) }
}

test('KRS-01 a user who recovered by a link starts again with new keys, and the log says so', async () => {
  const { old, keys, owner } = await recovered()
  const { identityId, handle, headers } = owner
  const pair = newSigningPair()
  const reset = await resetOf(world, owner, { pair })
  const answer = await sendReset(world, owner, reset)
  assert.equal(answer.status, 200, answer.text)
  const [made] = answer.body.signingKeys
  assert.deepEqual([made.keyVersion, made.publicKey, made.handle], [2, pair.publicKey, handle])
  const wraps = answer.body.keyWraps.map(({ ciphertext }: { ciphertext: string }) => ciphertext)
  assert.deepEqual(wraps.toSorted(), ['new.passkey.wrap', 'new.recovery.wrap'])

  const { events } = await get(`/api/transparency/identities/${identityId}`)
  const history = readKeyHistory(nodeSuite, { log: testLog, identityId, leaves: events })
  assert.ok('keys' in history, JSON.stringify(history))
  assert.equal(history.state.event, 'recovered')
  assert.deepEqual(listMissingKeyProofs(history, 2), ['unlinked_key'])
  assert.equal(events.at(-1).leaf, made.logEntry.leaf)

  const now = world.now().toISOString()
  const shown = await get(`/api/signing/public-key/${handle}`)
  assert.deepEqual([shown.publicKey, shown.keyVersion, shown.recoveredAt], [pair.publicKey, 2, now])
  const before = await get(
    `/api/signing/public-key/${handle}?at=${new Date(world.now().getTime() - 1000).toISOString()}`,
  )
  assert.deepEqual([before.publicKey, before.recoveredAt], [old.pair.publicKey, null])
  const encryption = await get(`/api/encryption/identity-key/${handle}`)
  assert.deepEqual([encryption.publicKey === keys.publicKey, encryption.recoveredAt], [false, now])
  assert.deepEqual((await get('/api/account/self-record', headers)).record.sequence, 2)
  assert.deepEqual((await get(`/api/signing/keys/${identityId}`, headers)).chain.adoption, undefined)

  const next = newSigningPair()
  const rotation = rotationOf(identityId, pair, next)
  const rotated = await world.api.inject({
    method: 'PUT',
    url: `/api/signing/keys/${identityId}`,
    headers,
    payload: rotation,
  })
  assert.equal(rotated.statusCode, 200, rotated.body)
  assert.equal((await get(`/api/signing/public-key/${handle}`)).recoveredAt, now, 'also of the keys after it')
})

test('KRS-01 with a passkey without PRF, the new recovery code alone unlocks the new keys', async () => {
  const { old, owner } = await recovered()
  const { keyWrap: _none, ...byOld } = await resetOf(world, owner, { by: old.authenticator })
  assert.deepEqual(errorOf(await sendReset(world, owner, byOld)), [409, 'keys_not_resettable'])
  assert.deepEqual(await mayReset(owner), [false, true])
  const { keyWrap: _wrap, ...reset } = await resetOf(world, owner)
  const answer = await sendReset(world, owner, reset)
  assert.deepEqual([answer.status, answer.body.keyWraps.length], [200, 1], answer.text)
  assert.equal(answer.body.keyWraps[0].ciphertext, 'new.recovery.wrap')
  assert.deepEqual(await mayReset(owner), [false, false])
})

test('KRS-02 all verified addresses hear of a reset, and the activity has it', async () => {
  const { owner } = await recovered()
  assert.equal((await sendReset(world, owner, await resetOf(world, owner))).status, 200)
  const mail = await mailbox.take()
  assert.match(mail.subject, /keys were reset/)
  assert.ok(mail.text.includes(owner.handle) && mail.text.includes('90'))
  const actions = (await auditEventsOf(world.db, owner.userId)).map(({ action }) => action)
  for (const action of ['account.keys.reset', 'signing_key.recovered']) assert.ok(actions.includes(action), action)
})

test('KRS-03 keys are reset after the hold alone, and once', async () => {
  const signer = await createSigner(world)
  await storeKeys(world, signer)
  const { authenticator } = await recover(world, mailbox, signer)
  const { headers } = await signIn(world, authenticator)
  const owner = { ...signer, authenticator, headers }
  const empty = {
    ...(await resetOf(world, { ...owner, headers: await signer.signIn() }, { by: signer.authenticator })),
  }
  assert.deepEqual(errorOf(await sendReset(world, owner, empty)), [409, 'recovery_hold'])
  world.pass(7 * day)
  assert.deepEqual(errorOf(await sendReset(world, owner, empty)), [403, 'recovery_limited'])
  await advanceDue(world.services)
  const used = { ...owner, headers: (await signIn(world, authenticator)).headers }
  const later = await sendReset(world, used, await resetOf(world, used))
  assert.deepEqual(errorOf(later), [409, 'keys_not_resettable'], 'the passkey from before has unlocked the keys')
  await emptyMailbox()
  const { owner: again } = await recovered()
  assert.equal((await sendReset(world, again, await resetOf(world, again))).status, 200)
  const second = await resetOf(world, again, { sequence: 3 })
  assert.deepEqual(errorOf(await sendReset(world, again, second)), [409, 'keys_not_resettable'])
})

test('KRS-03 of resets at once, one succeeds, and the keys are those of its answer', async () => {
  const { owner } = await recovered()
  const resets = [await resetOf(world, owner), await resetOf(world, owner), await resetOf(world, owner)]
  const answers = await Promise.all(resets.map((reset) => sendReset(world, owner, reset)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
  const [won] = answers.filter(({ status }) => status === 200)
  const { publicKey } = await get(`/api/signing/public-key/${owner.handle}`)
  assert.equal(publicKey, won?.body.signingKeys[0].publicKey)
  const { events } = await get(`/api/transparency/identities/${owner.identityId}`)
  assert.equal(events.length, 2)
})

test('KRS-04 no account resets keys without a recovery by a link, or after another passkey or the code', async () => {
  const never = await createSigner(world)
  await storeKeys(world, never)
  assert.deepEqual(errorOf(await sendReset(world, never, await resetOf(world, never))), [409, 'keys_not_resettable'])

  const accepted = await createSigner(world)
  await storeKeys(world, accepted)
  const link = await recover(world, mailbox, accepted)
  const url = `/api/account/recovery-links/${link.recoveryLinkId}/acceptance`
  const own = await accepted.signIn()
  assert.equal((await send(world, url, { method: 'POST', headers: own, payload: {} })).status, 204)
  world.pass(8 * day)
  await advanceDue(world.services)
  const after8 = { ...accepted, ...link, headers: (await signIn(world, link.authenticator)).headers }
  assert.deepEqual(errorOf(await sendReset(world, after8, await resetOf(world, after8))), [409, 'keys_not_resettable'])

  await emptyMailbox()
  const coded = await createSigner(world)
  const { recoveryAuth } = await storeKeys(world, coded)
  const { authenticator } = await recover(world, mailbox, coded)
  const { headers } = await signIn(world, authenticator)
  const lift = { method: 'POST', headers, payload: { recoveryAuth } } as const
  assert.equal((await send(world, '/api/account/recovery-limit/lift', lift)).status, 204)
  world.pass(8 * day)
  await advanceDue(world.services)
  const lifted = { ...coded, authenticator, headers: (await signIn(world, authenticator)).headers }
  assert.deepEqual(errorOf(await sendReset(world, lifted, await resetOf(world, lifted))), [409, 'keys_not_resettable'])
})

test('KRS-04 a user with a sibling identity cannot reset, and none of it is named', async () => {
  const signer = await createSigner(world)
  await storeKeys(world, signer)
  const other = await sibling(world, signer)
  const { authenticator } = await recover(world, mailbox, signer)
  world.pass(7 * day)
  await advanceDue(world.services)
  const { headers } = await signIn(world, authenticator)
  const owner = { ...signer, authenticator, headers }
  const whole = await resetOf(world, { ...owner, headers: await signer.signIn() }, { by: signer.authenticator })
  const refused = await sendReset(world, owner, whole)
  assert.deepEqual(errorOf(refused), [403, 'recovery_limited'])
  assert.ok(!refused.text.includes(other.identityId) && !refused.text.includes(other.handle))
})

test('KRS-05 a session alone resets nothing, also a fresh one, nor does another passkey or flow', async () => {
  const { old, owner } = await recovered()
  const stranger = await createSigner(world)
  const { credential: _withheld, ...without } = await resetOf(world, owner)
  assert.deepEqual(errorOf(await sendReset(world, owner, without)), [400, 'invalid_request'])
  for (const by of [old.authenticator, stranger.authenticator]) {
    const reset = await resetOf(world, owner, { by })
    assert.deepEqual(errorOf(await sendReset(world, owner, reset)), [400, 'invalid_request'], 'the wrap is for another')
    const named = { ...reset, keyWrap: { ...reset.keyWrap, credentialId: reset.credential.id } }
    const [status, error] = errorOf(await sendReset(world, owner, named))
    assert.ok(error === 'invalid_credential' || error === 'keys_not_resettable', `${status} ${error}`)
  }
  const used = await resetOf(world, owner)
  const bare = { ...used, flowId: (await resetOf(world, owner)).flowId }
  assert.deepEqual(errorOf(await sendReset(world, owner, bare)), [401, 'invalid_credential'], 'of another challenge')
  const foreign = await resetOf(world, stranger)
  const crossed = { ...used, flowId: foreign.flowId }
  assert.deepEqual(errorOf(await sendReset(world, owner, crossed)), [401, 'invalid_credential'], 'of another user')
  world.pass(limits.flowLifetimeSeconds + 1)
  assert.deepEqual(errorOf(await sendReset(world, owner, used)), [400, 'invalid_flow'])
  assert.equal((await get(`/api/signing/public-key/${owner.handle}`)).publicKey, old.pair.publicKey)
  assert.equal((await sendReset(world, owner, await resetOf(world, owner))).status, 200)
})

test('KRS-06 a reset with a wrong proof, a former key, or other keys than there are changes nothing', async () => {
  const { old, owner } = await recovered()
  const pair = newSigningPair()
  const refuse = async (parts: Parameters<typeof resetOf>[2], error: unknown[]) =>
    assert.deepEqual(errorOf(await sendReset(world, owner, await resetOf(world, owner, parts))), error)
  await refuse({ pair, holder: newSigningPair() }, [403, 'invalid_possession'])
  await refuse({ pair, event: 'rotated' }, [403, 'invalid_possession'])
  await refuse({ pair: old.pair }, [409, 'key_used_before'])
  await refuse({ pair: (await createSigner(world)).pair }, [409, 'key_in_use'])
  await refuse({ hasEncryptionKey: false }, [409, 'keys_changed'])
  await refuse({ sequence: 1 }, [409, 'self_record_changed'])
  await refuse({ sequence: 3 }, [409, 'self_record_changed'])
  const reset = await resetOf(world, owner)
  const [identity] = reset.identities
  const stranger = await createSigner(world)
  for (const identities of [
    [identity, { identityId: stranger.identityId }],
    [{ identityId: stranger.identityId }],
    [{ identityId: owner.identityId }],
  ]) {
    const answer = await sendReset(world, owner, { ...(await resetOf(world, owner)), identities })
    assert.deepEqual(errorOf(answer), [409, 'keys_changed'])
  }
  assert.equal((await get(`/api/signing/public-key/${owner.handle}`)).publicKey, old.pair.publicKey)
  const { keyWraps } = await get('/api/account/key-wraps', owner.headers)
  assert.equal(keyWraps.length, 2)
  assert.equal((await sendReset(world, owner, await resetOf(world, owner))).status, 200)
})

test('KRS-07 keys that were unlocked again since the recovery, or a suspended account, are not reset', async () => {
  const { owner } = await recovered()
  const { credentialId } = owner.authenticator
  world.pass(1)
  const wrap = { kind: 'passkey_prf', credentialId, ciphertext: 'unlocked.with.the.code' }
  const { headers } = owner
  assert.equal((await send(world, '/api/account/key-wraps', { method: 'POST', headers, payload: wrap })).status, 201)
  assert.deepEqual(errorOf(await sendReset(world, owner, await resetOf(world, owner))), [409, 'keys_not_resettable'])

  const other = (await recovered()).owner
  const reset = await resetOf(world, other)
  await suspend(world, other)
  assert.deepEqual(errorOf(await sendReset(world, other, reset)), [401, 'unauthorized'])
})

test('KRS-08 what the old keys open is kept for 90 days in the export, and then deleted', async () => {
  const { owner } = await recovered()
  const { headers } = owner
  assert.equal((await sendReset(world, owner, await resetOf(world, owner))).status, 200)
  const { formerCiphertexts } = await get('/api/account/export', headers)
  const found = formerCiphertexts.map(({ kind, ciphertext }: { kind: string; ciphertext: string }) => [
    kind,
    ciphertext,
  ])
  assert.deepEqual(found.toSorted(), [
    ['encryption_key', 'old.encryption.key'],
    ['passkey_prf', 'old.passkey.wrap'],
    ['recovery_code', 'old.recovery.wrap'],
    ['self_record', 'old.self.record'],
    ['signing_key', 'a.b.c.d.e'],
  ])
  const kept = world.db.selectFrom('encryption_former_ciphertext').select('kind').where('user_id', '=', owner.userId)
  const count = async () => (await kept.execute()).length
  world.pass(90 * day - 1)
  await pruneFormer(world.db, world.now(), 100)
  assert.equal(await count(), 5)
  world.pass(1)
  assert.equal(await pruneFormer(world.db, world.now(), 3), 3)
  while ((await pruneFormer(world.db, world.now(), 100)) > 0);
  assert.equal(await count(), 0)
})

test('KRS-08 what the old keys open ends with the account', async () => {
  const { owner } = await recovered()
  assert.equal((await sendReset(world, owner, await resetOf(world, owner))).status, 200)
  const ended = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: owner.headers })
  assert.equal(ended.statusCode, 204, ended.body)
  const kept = world.db.selectFrom('encryption_former_ciphertext').select('kind').where('user_id', '=', owner.userId)
  assert.deepEqual(await kept.execute(), [])
})

test('KRS-09 after a reset, the old recovery code recovers nothing, and requests of the old key expire', async () => {
  const { keys, owner } = await recovered()
  const app = await world.app()
  const asking = signingRequesterOf(world, app)
  const requested = await asking.request(owner.identityId)
  assert.equal(requested.statusCode, 201, requested.body)
  const waiting = asking.status(requested.json().requestId, '&wait=20')
  assert.equal((await sendReset(world, owner, await resetOf(world, owner))).status, 200)
  assert.equal((await waiting).json().status, 'expired')
  const start = (recoveryAuth: string) =>
    send(world, '/api/auth/recover/start', { method: 'POST', payload: { handle: owner.handle, recoveryAuth } })
  assert.deepEqual(errorOf(await start(keys.recoveryAuth)), [401, 'invalid_credential'])
  assert.deepEqual(errorOf(await start(newCode())), [401, 'invalid_credential'])
})
