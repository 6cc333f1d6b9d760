import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assert as check, asyncProperty, constantFrom, nat } from 'fast-check'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { limits } from '@countersign/protocol/formats/limits'
import { secondsAfter } from '#platform/clock.ts'
import { Refusal } from '#platform/refusal.ts'
import {
  connection,
  findKeys,
  instant,
  now,
  provider,
  requestId,
  signedResponse,
  stranger,
} from '#sso/saml/corpus/document.ts'
import { encrypted } from '#sso/saml/corpus/encryption.ts'
import { makeCorpus } from '#sso/saml/corpus/make.ts'
import { finishSaml } from '#sso/saml/response.ts'

const folder = join(import.meta.dirname, '../corpus')
const Index = Type.Array(
  Type.Object({
    path: Type.String(),
    case: Type.String(),
    what: Type.String(),
    because: Type.Optional(Type.String()),
  }),
)
const index = Value.Parse(Index, JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')))
const read = (path: string) => readFileSync(join(folder, path)).toString('base64')
const finish = (samlResponse: string, at = now) => finishSaml(connection, { samlResponse, requestId, findKeys }, at)

/** What is wrong with an answer, in the word that whoever looks after the connection is told; undefined for nothing. */
async function objectionTo(samlResponse: string, at = now): Promise<string | undefined> {
  try {
    await finish(samlResponse, at)
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.match(error.code, /^sso_(answer_invalid|answer_mismatch|denied)$/)
    return String(error.fields['because'])
  }
}

const attacks = {
  'SML-01': 'SML-01 a signature that is wrapped into something else vouches for nothing',
  'SML-02': 'SML-02 one assertion is all that an answer may have',
  'SML-03': 'SML-03 what is not signed, or was changed since, names nobody',
  'SML-04': 'SML-04 who may sign is not said by the answer',
  'SML-05': 'SML-05 a name counts whole or not at all',
  'SML-06': 'SML-06 a signature that may be read in two ways is none',
  'SML-07': 'SML-07 what somebody encrypted is not believed for it',
  'SML-08': 'SML-08 the answer does not choose how it is verified',
  'SML-09': 'SML-09 what would make a reader fetch or work is refused before it does',
  'SML-10': 'SML-10 an answer to another request is refused',
  'SML-11': 'SML-11 an answer counts in its time',
  'SML-12': 'SML-12 an answer for somebody else is refused',
  'SML-14': 'SML-14 an answer of another provider is refused',
  'SML-15': 'SML-15 nobody is taken in whom we have not sent',
  'SML-19': 'SML-19 a status that is not success counts, whatever comes with it',
  'SML-21': 'SML-21 names that two readers resolve differently are refused',
}

for (const [attack, sentence] of Object.entries(attacks))
  test(sentence, async () => {
    const documents = index.filter((one) => one.path.startsWith('hostile/') && one.case === attack)
    assert.ok(documents.length > 0)
    for (const { path, what, because } of documents)
      assert.equal(await objectionTo(read(path)), because, `${path}: ${what}`)
  })

test('SML-20 every shape that an honest provider gives its answer is accepted', async () => {
  const documents = index.filter(({ path }) => path.startsWith('valid/'))
  assert.ok(documents.length >= 16)
  for (const { path, what } of documents) {
    assert.equal(await objectionTo(read(path)), undefined, `${path}: ${what}`)
    const { subject, assertionId, notOnOrAfter } = await finish(read(path))
    assert.ok(subject.length > 0 && assertionId === '_a1' && notOnOrAfter instanceof Date, path)
  }
})

test('the corpus is what its script makes, and holds enough of both kinds', () => {
  const made = makeCorpus()
  const files = globSync('{index.json,valid/*,hostile/*}', { cwd: folder })
  assert.deepEqual(files.toSorted(), [...made.keys()].toSorted())
  for (const [path, bytes] of made) assert.ok(bytes.equals(readFileSync(join(folder, path))), `${path} is stale`)
  const hostile = index.filter(({ path, because }) => path.startsWith('hostile/') && because !== undefined)
  assert.ok(hostile.length >= 60 && index.length - hostile.length >= 16)
  assert.deepEqual([...new Set(hostile.map((one) => one.case))].toSorted(), Object.keys(attacks))
})

test('SML-09 nothing that is sent keeps the reader busy for fifty milliseconds', async () => {
  for (const { path, what } of index.filter((one) => one.case === 'SML-09')) {
    const sent = read(path)
    await objectionTo(sent)
    const before = process.cpuUsage()
    await objectionTo(sent)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 50_000, `${path}: ${what} takes ${(user + system) / 1000} ms`)
  }
})

test('an answer tells who the person is, in the words of the provider', async () => {
  assert.deepEqual(await finish(Buffer.from(signedResponse()).toString('base64')), {
    subject: 'ann-7f3c',
    email: 'ann@acme.example',
    emailVerified: true,
    displayName: 'Ann Archer',
    assertionId: '_a1',
    notOnOrAfter: new Date(instant(300)),
  })
})

test('SML-11 an answer counts until clocks can no longer differ by so much, and not a millisecond longer', async () => {
  const answer = Buffer.from(signedResponse()).toString('base64')
  const end = secondsAfter(now, 300 + limits.clockSkewSecondsMax)
  assert.equal(await objectionTo(answer, new Date(end.getTime() - 1)), undefined)
  assert.equal(await objectionTo(answer, end), 'expired')
})

test('SML-04 a key that was taken out of the connection counts no more', async () => {
  const answer = { samlResponse: Buffer.from(signedResponse()).toString('base64'), requestId, findKeys }
  const only = (certificates: string[]) => ({
    ...connection,
    identityProvider: { ...connection.identityProvider, certificates },
  })
  await finishSaml(only([provider.certificate]), answer, now)
  await assert.rejects(finishSaml(only([stranger.certificate]), answer, now), Refusal)
  await assert.rejects(finishSaml(only([]), answer, now), Refusal)
})

test('SML-03 SML-07 no character of an answer that is changed makes it name somebody else', async () => {
  const answers = index
    .filter(({ path }) => path.startsWith('valid/') && (path < 'valid/020' || path > 'valid/039-sml-20.xml'))
    .map(({ path }) => read(path))
  await check(
    asyncProperty(
      constantFrom(...answers),
      nat(),
      constantFrom('<', '>', '&', '"', "'", ' ', '/', '=', ':', '!', '-', 'x', 'é'),
      async (answer, at, character) => {
        const text = [...Buffer.from(answer, 'base64').toString('utf8')]
        const changed = text.with(at % text.length, character).join('')
        const sent = Buffer.from(changed).toString('base64')
        if ((await objectionTo(sent)) !== undefined) return
        assert.deepEqual(await finish(sent), await finish(answer), changed)
      },
    ),
    { numRuns: 500, seed: 20_261_121 },
  )
})

test('an encrypted assertion is not read where no key was published', async () => {
  const samlResponse = Buffer.from(encrypted(signedResponse())).toString('base64')
  const answer = { samlResponse, requestId, findKeys: async () => [] }
  await assert.rejects(
    finishSaml(connection, answer, now),
    (error) =>
      error instanceof Refusal && error.code === 'sso_answer_invalid' && error.fields['because'] === 'encrypted',
  )
})

test('SML-07 an encrypted answer names whom the same answer in clear names', async () => {
  const [clear, hidden] = [signedResponse(), encrypted(signedResponse())].map((one) => Buffer.from(one))
  assert.ok(clear && hidden && !hidden.includes('ann@acme.example'))
  assert.deepEqual(await finish(hidden.toString('base64')), await finish(clear.toString('base64')))
})

test('an answer that is not base64, or not all of it, is refused', async () => {
  const answer = Buffer.from(signedResponse()).toString('base64')
  for (const sent of ['', '%%%', `${answer}!`, `!${answer}`, answer.slice(0, -1).replace(/=+$/, ''), `${answer}AAAA`])
    assert.equal(await objectionTo(sent), 'form', sent.slice(0, 10))
  assert.equal(await objectionTo(answer.replaceAll(/(.{76})/g, '$1\r\n')), undefined)
})
