import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const put = (person: Person, url: string, payload: object) =>
  world.api.inject({ method: 'PUT', url, headers: person.headers, payload })
const putWraps = (person: Person, keyWraps: object[]) => put(person, '/api/account/key-wraps', { keyWraps })
const putRecovery = (person: Person, ciphertext: string) =>
  put(person, '/api/account/recovery', { recoveryAuth: randomBytes(32).toString('base64url'), ciphertext })
const wrapsOf = async ({ headers }: Person): Promise<{ kind: string; ciphertext: string }[]> =>
  (await world.api.inject({ url: '/api/account/key-wraps', headers })).json().keyWraps
const bundle = (name: string) => [
  { kind: 'recovery_code', ciphertext: `recovery of ${name}` },
  { kind: 'device', ciphertext: `device of ${name}` },
]
const ciphertexts = (wraps: { ciphertext: string }[]) => wraps.map(({ ciphertext }) => ciphertext).toSorted()

test('of concurrent replacements of all wraps, those of one request remain completely', async () => {
  const person = await world.person()
  const names = Array.from({ length: 12 }, (_, index) => `bundle ${index}`)
  const answers = await Promise.all(names.map((name) => putWraps(person, bundle(name))))
  for (const answer of answers) assert.equal(answer.statusCode, 200, answer.body)
  const kept = await wrapsOf(person)
  const winner = names.find((name) => kept.some(({ ciphertext }) => ciphertext.endsWith(name))) ?? ''
  assert.deepEqual(ciphertexts(kept), ciphertexts(bundle(winner)))
})

test('concurrent replacements of the recovery code and of all wraps leave one recovery code', async () => {
  const person = await world.person()
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? putRecovery(person, `new ${index}`) : putWraps(person, bundle(`bundle ${index}`)),
    ),
  )
  const recoveries = (await wrapsOf(person)).filter(({ kind }) => kind === 'recovery_code')
  assert.equal(recoveries.length, 1)
})
