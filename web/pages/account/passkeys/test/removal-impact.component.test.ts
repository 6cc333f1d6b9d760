import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { removalImpact } from '../EditPasskey.tsx'

const passkey = (credentialId: string, opensKeys: boolean): Passkey => ({
  credentialId,
  opensKeys,
  mayResetKeys: false,
  name: 'A passkey',
  createdAt: '2030-01-01T12:00:00.000Z',
  lastUsedAt: '2030-01-01T12:00:00.000Z',
  backedUp: true,
  publicKey: 'key',
})
const [first, second, signsInOnly] = [passkey('a', true), passkey('b', true), passkey('c', false)]

test('nothing is lost with a passkey while another one opens the keys, or with one that never did', () => {
  assert.equal(removalImpact(first, { passkeys: [first, second], codeOpensKeys: false }), undefined)
  assert.equal(removalImpact(signsInOnly, { passkeys: [first, signsInOnly], codeOpensKeys: false }), undefined)
})

test('whoever removes the last passkey that opens the keys is told what is left', () => {
  const passkeys = [first, signsInOnly]
  assert.equal(removalImpact(first, { passkeys, codeOpensKeys: true }), 'code only')
  assert.equal(removalImpact(first, { passkeys, codeOpensKeys: false }), 'keys')
})
