import assert from 'node:assert/strict'
import { test } from 'node:test'
import vectors from '../../vectors.json' with { type: 'json' }
import {
  agreeAsAnswerer,
  agreeAsAsker,
  commitmentTo,
  newApprovalKey,
  newNonce,
  NotTheSame,
  type ApprovalKey,
} from '../device-approval.ts'
import { newMasterKey, openHandedOver } from '../master-key.ts'

const approvalId = '01997c1e-7a54-7000-8000-00000000000a'
const userId = '01997c1e-7a54-7000-8000-00000000000b'
const place = { approvalId, userId }

async function newAsker() {
  const own = await newApprovalKey()
  const asked = { publicKey: own.publicKey, nonce: newNonce() }
  return { own, asked, commitment: await commitmentTo(asked) }
}
const importKey = async (jwk: JsonWebKey): Promise<ApprovalKey> => ({
  publicKey: jwk.x ?? '',
  privateKey: await crypto.subtle.importKey('jwk', jwk, 'X25519', false, ['deriveBits']),
})

for (const each of vectors.deviceApprovals) {
  test(`two devices agree on what another implementation computes: ${each.digits}`, async () => {
    const [asking, answering] = [await importKey(each.askingKey), await importKey(each.answeringKey)]
    const asked = { publicKey: asking.publicKey, nonce: each.nonce }
    const transcript = {
      approvalId: each.approvalId,
      userId: each.userId,
      asked,
      answer: { publicKey: answering.publicKey },
    }
    assert.equal(await commitmentTo(asked), each.commitment)
    const sides = [
      await agreeAsAsker(asking, transcript),
      await agreeAsAnswerer(answering, transcript, each.commitment),
    ]
    for (const { digits, confirmation, wrappingKey } of sides) {
      assert.deepEqual([digits, confirmation], [each.digits, each.confirmation])
      const opened = await wrappingKey.open(`device-approval:${each.approvalId}`, each.ciphertext)
      assert.equal(Buffer.from(opened).toString('hex'), each.masterKey)
    }
  })
}

test('the master key arrives at the device that asked, and opens under that approval alone', async () => {
  const [asker, answerer] = [await newAsker(), await newApprovalKey()]
  const transcript = { ...place, asked: asker.asked, answer: { publicKey: answerer.publicKey } }
  const masterKey = newMasterKey()
  const sealing = await agreeAsAnswerer(answerer, transcript, asker.commitment)
  const { digits, wrappingKey } = await agreeAsAsker(asker.own, transcript)
  assert.match(digits, /^\d{6}$/)
  assert.equal(sealing.digits, digits)

  const ciphertext = await masterKey.handOver(sealing.wrappingKey, approvalId)
  const signingKey = await masterKey.newSigningKey('an identity')
  const handedOver = await openHandedOver(ciphertext, wrappingKey, approvalId)
  await handedOver.openSigningKey('an identity', signingKey.encryptedPrivateKey)
  await assert.rejects(openHandedOver(ciphertext, wrappingKey, userId), { code: 'cannot_open' })
})

test('DEV-01 whoever stands between two devices gives them different digits, and reads nothing', async () => {
  const [asker, answerer, towardsAsker, towardsAnswerer] = [
    await newAsker(),
    await newApprovalKey(),
    await newApprovalKey(),
    await newAsker(),
  ]
  const seenByAsker = { ...place, asked: asker.asked, answer: { publicKey: towardsAsker.publicKey } }
  const seenByAnswerer = { ...place, asked: towardsAnswerer.asked, answer: { publicKey: answerer.publicKey } }
  const shown = await agreeAsAsker(asker.own, seenByAsker)
  const expected = await agreeAsAnswerer(answerer, seenByAnswerer, towardsAnswerer.commitment)
  assert.notEqual(shown.digits, expected.digits)
  const ciphertext = await newMasterKey().handOver(expected.wrappingKey, approvalId)
  await assert.rejects(openHandedOver(ciphertext, shown.wrappingKey, approvalId), { code: 'cannot_open' })
})

test('DEV-01 every part of what was said changes the digits or the key', async () => {
  const [asker, answerer] = [await newAsker(), await newApprovalKey()]
  const transcript = { ...place, asked: asker.asked, answer: { publicKey: answerer.publicKey } }
  const { wrappingKey } = await agreeAsAsker(asker.own, transcript)
  const ciphertext = await newMasterKey().handOver(wrappingKey, approvalId)
  const others = [
    { ...transcript, approvalId: userId },
    { ...transcript, userId: approvalId },
    { ...transcript, asked: { ...asker.asked, nonce: newNonce() } },
  ]
  for (const other of others) {
    const agreed = await agreeAsAsker(asker.own, other)
    await assert.rejects(openHandedOver(ciphertext, agreed.wrappingKey, approvalId), { code: 'cannot_open' })
  }
})

test('DEV-02 what does not fit the commitment is refused: no one tries keys until the digits fit', async () => {
  const [asker, other, answerer] = [await newAsker(), await newAsker(), await newApprovalKey()]
  const answer = { publicKey: answerer.publicKey }
  const swapped = [
    other.asked,
    { ...asker.asked, nonce: other.asked.nonce },
    { ...asker.asked, publicKey: other.asked.publicKey },
  ]
  for (const asked of swapped)
    await assert.rejects(agreeAsAnswerer(answerer, { ...place, asked, answer }, asker.commitment), NotTheSame)
})

test('DEV-03 a key with which everybody agrees on the same is refused by both', async () => {
  const point = (bytes: number[]) => Buffer.from([...bytes, ...Array<number>(32 - bytes.length).fill(0)])
  const edge = Buffer.from(`ec${'ff'.repeat(30)}7f`, 'hex')
  const [asker, answerer] = [await newAsker(), await newApprovalKey()]
  for (const low of [point([]), point([1]), edge]) {
    const publicKey = low.toString('base64url')
    await assert.rejects(agreeAsAsker(asker.own, { ...place, asked: asker.asked, answer: { publicKey } }), NotTheSame)
    const asked = { publicKey, nonce: newNonce() }
    const transcript = { ...place, asked, answer: { publicKey: answerer.publicKey } }
    await assert.rejects(agreeAsAnswerer(answerer, transcript, await commitmentTo(asked)), NotTheSame)
  }
  const short = { ...asker.asked, nonce: 'AAAA' }
  await assert.rejects(commitmentTo(short), NotTheSame)
})

test('the private half of an approval cannot be exported', async () => {
  const { privateKey } = await newApprovalKey()
  await assert.rejects(crypto.subtle.exportKey('pkcs8', privateKey))
})
