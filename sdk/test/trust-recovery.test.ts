import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLeaf, newKeyPair } from '../../server/testing/lying-log.ts'
import { begin } from './trusting-app.ts'

test('TRU-43 a key after a recovery is another person, also after a rotation', async (t) => {
  const { log, identityId, name, refuses, restart, ask } = await begin(t)
  const [next, later] = [newKeyPair(), newKeyPair()]
  addLeaf(log, identityId, next, { event: 'recovered' })
  await refuses('key_not_proved')
  addLeaf(log, identityId, later, { event: 'rotated', linkedBy: next })
  name(later)
  await refuses('key_not_proved')
  assert.equal((await ask(restart({ keys: 'any' }))).publicKey, later.publicKey)
})

test('TRU-43 an app accepts a key after a recovery, and with it the keys that it links', async (t) => {
  const { log, identityId, name, refuses, restart, ask } = await begin(t)
  const [next, later, stranger] = [newKeyPair(), newKeyPair(), newKeyPair()]
  const questions: object[] = []
  const accepting = (publicKey: string) =>
    restart({
      keys: (key) => {
        questions.push(key)
        return key.publicKey === publicKey
      },
    })
  addLeaf(log, identityId, next, { event: 'recovered' })
  name(next)
  await refuses('key_not_proved', accepting(stranger.publicKey))
  assert.deepEqual(questions, [{ identityId, publicKey: next.publicKey, keyVersion: 2 }])
  assert.equal((await ask(accepting(next.publicKey))).publicKey, next.publicKey)
  addLeaf(log, identityId, later, { event: 'rotated', linkedBy: next })
  name(later)
  assert.equal((await ask(accepting(next.publicKey))).publicKey, later.publicKey)
  await refuses('key_not_proved', accepting(later.publicKey))
  const failing = restart({
    keys: () => {
      throw new RangeError('the app cannot decide')
    },
  })
  await assert.rejects(ask(failing), RangeError)
  addLeaf(log, identityId, stranger, { event: 'recovered' })
  name(stranger)
  await refuses('key_not_proved', accepting(next.publicKey))
  assert.equal((await ask(accepting(stranger.publicKey))).publicKey, stranger.publicKey)
})

test('TRU-03 a key without proof of possession is not one that an app accepts by itself', async (t) => {
  const { log, identityId, name, refuses, restart } = await begin(t)
  const next = newKeyPair()
  name(next)
  addLeaf(log, identityId, next, { event: 'rotated', provedBy: null })
  await refuses('key_not_proved', restart({ keys: () => true }))
})
