import assert from 'node:assert/strict'
import { test } from 'node:test'
import vectors from '../../vectors.json' with { type: 'json' }
import {
  agreeAsApprover,
  agreeAsRequester,
  computeCommitment,
  generateEphemeralKeyPair,
  newNonce,
  TranscriptMismatchError,
  type EphemeralKeyPair,
} from '../device-approval.ts'
import { generateMasterKey, openTransferredMasterKey } from '../master-key.ts'

const approvalId = '01997c1e-7a54-7000-8000-00000000000a'
const userId = '01997c1e-7a54-7000-8000-00000000000b'
const place = { approvalId, userId }

async function newRequester() {
  const own = await generateEphemeralKeyPair()
  const opening = { publicKey: own.publicKey, nonce: newNonce() }
  return { own, opening, commitment: await computeCommitment(opening) }
}
const importKey = async (jwk: JsonWebKey): Promise<EphemeralKeyPair> => ({
  publicKey: jwk.x ?? '',
  privateKey: await crypto.subtle.importKey('jwk', jwk, 'X25519', false, ['deriveBits']),
})

for (const each of vectors.deviceApprovals) {
  test(`two devices get the results of another implementation: ${each.digits}`, async () => {
    const [asking, answering] = [await importKey(each.askingKey), await importKey(each.answeringKey)]
    const opening = { publicKey: asking.publicKey, nonce: each.nonce }
    const transcript = {
      approvalId: each.approvalId,
      userId: each.userId,
      opening,
      answer: { publicKey: answering.publicKey },
    }
    assert.equal(await computeCommitment(opening), each.commitment)
    const sides = [
      await agreeAsRequester(asking, transcript),
      await agreeAsApprover(answering, transcript, each.commitment),
    ]
    for (const { digits, confirmation, wrappingKey } of sides) {
      assert.deepEqual([digits, confirmation], [each.digits, each.confirmation])
      const opened = await wrappingKey.open(`device-approval:${each.approvalId}`, each.ciphertext)
      assert.equal(Buffer.from(opened).toString('hex'), each.masterKey)
    }
  })
}

test('the requesting device gets the master key, and only that approval decrypts it', async () => {
  const [requester, answerer] = [await newRequester(), await generateEphemeralKeyPair()]
  const transcript = { ...place, opening: requester.opening, answer: { publicKey: answerer.publicKey } }
  const masterKey = generateMasterKey()
  const sealing = await agreeAsApprover(answerer, transcript, requester.commitment)
  const { digits, wrappingKey } = await agreeAsRequester(requester.own, transcript)
  assert.match(digits, /^\d{6}$/)
  assert.equal(sealing.digits, digits)

  const ciphertext = await masterKey.handOver(sealing.wrappingKey, approvalId)
  const signingKey = await masterKey.newSigningKey('an identity')
  const handedOver = await openTransferredMasterKey(ciphertext, wrappingKey, approvalId)
  await handedOver.openSigningKey('an identity', signingKey.encryptedPrivateKey)
  await assert.rejects(openTransferredMasterKey(ciphertext, wrappingKey, userId), { code: 'decryption_failed' })
})

test('DEV-01 an attacker between two devices gives them different digits, and reads nothing', async () => {
  const [requester, answerer, towardsRequester, towardsAnswerer] = [
    await newRequester(),
    await generateEphemeralKeyPair(),
    await generateEphemeralKeyPair(),
    await newRequester(),
  ]
  const seenByRequester = { ...place, opening: requester.opening, answer: { publicKey: towardsRequester.publicKey } }
  const seenByAnswerer = { ...place, opening: towardsAnswerer.opening, answer: { publicKey: answerer.publicKey } }
  const shown = await agreeAsRequester(requester.own, seenByRequester)
  const expected = await agreeAsApprover(answerer, seenByAnswerer, towardsAnswerer.commitment)
  assert.notEqual(shown.digits, expected.digits)
  const ciphertext = await generateMasterKey().handOver(expected.wrappingKey, approvalId)
  await assert.rejects(openTransferredMasterKey(ciphertext, shown.wrappingKey, approvalId), {
    code: 'decryption_failed',
  })
})

test('DEV-01 every exchanged value changes the digits or the key', async () => {
  const [requester, answerer] = [await newRequester(), await generateEphemeralKeyPair()]
  const transcript = { ...place, opening: requester.opening, answer: { publicKey: answerer.publicKey } }
  const { wrappingKey } = await agreeAsRequester(requester.own, transcript)
  const ciphertext = await generateMasterKey().handOver(wrappingKey, approvalId)
  const others = [
    { ...transcript, approvalId: userId },
    { ...transcript, userId: approvalId },
    { ...transcript, opening: { ...requester.opening, nonce: newNonce() } },
  ]
  for (const other of others) {
    const agreed = await agreeAsRequester(requester.own, other)
    await assert.rejects(openTransferredMasterKey(ciphertext, agreed.wrappingKey, approvalId), {
      code: 'decryption_failed',
    })
  }
})

test('DEV-02 values that do not match the commitment are rejected', async () => {
  const [requester, other, answerer] = [await newRequester(), await newRequester(), await generateEphemeralKeyPair()]
  const answer = { publicKey: answerer.publicKey }
  const swapped = [
    other.opening,
    { ...requester.opening, nonce: other.opening.nonce },
    { ...requester.opening, publicKey: other.opening.publicKey },
  ]
  for (const opening of swapped)
    await assert.rejects(
      agreeAsApprover(answerer, { ...place, opening, answer }, requester.commitment),
      TranscriptMismatchError,
    )
})

test('DEV-03 a key whose shared secret is public is rejected by both devices', async () => {
  const point = (bytes: number[]) => Buffer.from([...bytes, ...Array<number>(32 - bytes.length).fill(0)])
  const edge = Buffer.from(`ec${'ff'.repeat(30)}7f`, 'hex')
  const [requester, answerer] = [await newRequester(), await generateEphemeralKeyPair()]
  for (const low of [point([]), point([1]), edge]) {
    const publicKey = low.toString('base64url')
    await assert.rejects(
      agreeAsRequester(requester.own, { ...place, opening: requester.opening, answer: { publicKey } }),
      TranscriptMismatchError,
    )
    const opening = { publicKey, nonce: newNonce() }
    const transcript = { ...place, opening, answer: { publicKey: answerer.publicKey } }
    await assert.rejects(
      agreeAsApprover(answerer, transcript, await computeCommitment(opening)),
      TranscriptMismatchError,
    )
  }
  const short = { ...requester.opening, nonce: 'AAAA' }
  await assert.rejects(computeCommitment(short), TranscriptMismatchError)
})

test('the private key of an approval is not extractable', async () => {
  const { privateKey } = await generateEphemeralKeyPair()
  await assert.rejects(crypto.subtle.exportKey('pkcs8', privateKey))
})
