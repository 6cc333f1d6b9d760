import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'

const root = (letter: string) => new Secret(letter.repeat(32))

test('a sealed text can be decrypted only with its context', async () => {
  const keyring = createKeyring([root('a')])
  const sealed = await keyring.seal('token-signing-key:1', 'a private key')
  assert.doesNotMatch(sealed, /private/)
  assert.equal(await keyring.open('token-signing-key:1', sealed), 'a private key')
  await assert.rejects(keyring.open('token-signing-key:2', sealed), /context/)
})

test('after a change of the root key, the old one decrypts and the first one encrypts', async () => {
  const [old, both, young] = [
    createKeyring([root('a')]),
    createKeyring([root('b'), root('a')]),
    createKeyring([root('b')]),
  ]
  const sealed = await old.seal('x', 'kept')
  assert.equal(await both.open('x', sealed), 'kept')
  assert.equal(await young.open('x', await both.seal('x', 'new')), 'new')
})

test('SUP-07 with a lost root key the error says so, and no new key is created', async () => {
  const sealed = await createKeyring([root('a')]).seal('x', 'kept')
  await assert.rejects(createKeyring([root('c')]).open('x', sealed), /SECRET_KEY is not the key of this database/)
})
