import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { DecryptionError } from '@countersign/keys/envelope'
import { verifySignature } from '@countersign/keys/key-pair'
import { generateMasterKey, type MasterKey } from '@countersign/keys/master-key'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { actMessage } from '@countersign/protocol/formats/acts/act'
import { approvalMessage, presenceDigest } from '@countersign/protocol/formats/signing/approval'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import {
  signAct,
  signApproval,
  signText,
  unlockWithPasskey,
  unlockWithRecoveryCode,
  wrapMasterKeyForPasskey,
} from '../key-vault.ts'

const identityId = '01934c2e-7a00-7abc-8def-0123456789ab'
const userId = '01934c2e-7a00-7abc-8def-0123456789ac'
const [text, statement] = ['Pay 10 €', { amount: 10 }]
const newBytes = () => new Uint8Array(randomBytes(32))
const evidence = {
  publicKey: newBytes(),
  authenticatorData: newBytes(),
  clientDataJson: newBytes(),
  signature: newBytes(),
}
const presence = presenceDigest(nodeSuite.sha256, evidence)

async function newSealedKey(masterKey: MasterKey) {
  return { identityId, ...(await masterKey.newSigningKey(identityId)) }
}

function isSigned(publicKey: string, signature: string, message: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [key, bytes] = [fromCanonicalBase64(publicKey), fromCanonicalBase64(signature)]
  assert.ok(key && bytes)
  return verifySignature(key, bytes, message)
}

test('a page signs a text, its approval and an act with the key of the identity', async () => {
  const masterKey = generateMasterKey()
  const key = await newSealedKey(masterKey)
  const bytes = new TextEncoder().encode(text)
  assert.ok(await isSigned(key.publicKey, await signText(masterKey, key, text), bytes))
  const approved = await signApproval(masterKey, key, { text, statement, evidence })
  assert.ok(approved)
  assert.ok(await isSigned(key.publicKey, approved.signature, bytes))
  assert.ok(await isSigned(key.publicKey, approved.approval, approvalMessage(statement, presence)))
  const act = (await signAct(masterKey, key, { statement, evidence })) ?? ''
  assert.ok(await isSigned(key.publicKey, act, actMessage(statement, presence)))
})

test('SGN-29 a page signs no approval and no act in the name of another key than its own', async () => {
  const [masterKey, service] = [generateMasterKey(), generateMasterKey()]
  const [own, named] = [await newSealedKey(masterKey), await newSealedKey(service)]
  for (const publicKey of [named.publicKey, Buffer.alloc(32).toString('base64')]) {
    const key = { ...own, publicKey }
    assert.equal(await signApproval(masterKey, key, { text, statement, evidence }), undefined)
    assert.equal(await signAct(masterKey, key, { statement, evidence }), undefined)
  }
  await assert.rejects(signApproval(masterKey, named, { text, statement, evidence }), DecryptionError)
  assert.equal(await signAct(masterKey, named, { statement, evidence }), undefined)
  await assert.rejects(signText(masterKey, named, text), DecryptionError)
})

test('a forgotten master key signs nothing more', async () => {
  const masterKey = generateMasterKey()
  const key = await newSealedKey(masterKey)
  masterKey.forget()
  await assert.rejects(signText(masterKey, key, text), /forgotten/)
  await assert.rejects(signApproval(masterKey, key, { text, statement, evidence }), /forgotten/)
  await assert.rejects(signAct(masterKey, key, { statement, evidence }), /forgotten/)
})

test('a key wrap opens only with its own passkey, for its own user', async () => {
  const prfOutput = newBytes()
  const wrap = await wrapMasterKeyForPasskey(generateMasterKey(), { credentialId: 'one', prfOutput }, userId)
  const wraps = [{ ...wrap, wrapId: identityId, createdAt: '2030-01-01T12:00:00.000Z' }]
  const unlock = (used: { credentialId: string; prfOutput: typeof prfOutput | undefined }, user = userId) =>
    unlockWithPasskey(wraps, used, user)
  assert.equal(await unlock({ credentialId: 'two', prfOutput }), undefined)
  assert.equal(await unlock({ credentialId: 'one', prfOutput: undefined }), undefined)
  assert.equal(await unlock({ credentialId: 'one', prfOutput: newBytes() }), undefined)
  assert.equal(await unlock({ credentialId: 'one', prfOutput }, identityId), undefined)
  assert.equal(await unlockWithRecoveryCode(wraps, 'no code', userId), undefined)
})
