import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, asyncProperty, constantFrom, nat } from 'fast-check'
import {
  attribute,
  assertion,
  connection,
  findKeys,
  instant,
  limits,
  now,
  provider,
  requestId,
  response,
  sign,
  signedResponse,
  stranger,
  swap,
} from '../testing/document.ts'
import { encrypted } from '../testing/encryption.ts'
import { makeCorpus, type CorpusEntry } from '../testing/make.ts'
import { verifySamlResponse } from '../response.ts'

const corpus = makeCorpus()
const read = ({ bytes }: CorpusEntry) => Buffer.from(bytes).toString('base64')
const verify = (samlResponse: string, at = now) =>
  verifySamlResponse(connection, { samlResponse, requestId, findKeys }, { now: at, limits })

/** Returns the user of a valid response. */
async function finish(samlResponse: string) {
  const result = await verify(samlResponse)
  assert.ok('user' in result, JSON.stringify(result))
  return result.user
}

/** Returns the reason that the audit log would record for a response; undefined if it is valid. */
async function objectionTo(samlResponse: string, at = now): Promise<string | undefined> {
  const result = await verify(samlResponse, at)
  return 'refused' in result ? result.refused.because : undefined
}

const attacks = {
  'SML-01': 'SML-01 a wrapped signature authenticates nothing',
  'SML-02': 'SML-02 a response with several assertions is rejected',
  'SML-03': 'SML-03 content that is unsigned or was changed identifies no user',
  'SML-04': 'SML-04 the response does not choose its signing keys',
  'SML-05': 'SML-05 a name is used whole or rejected',
  'SML-06': 'SML-06 an ambiguous signature is rejected',
  'SML-07': 'SML-07 encryption authenticates nothing',
  'SML-08': 'SML-08 the response does not choose how it is verified',
  'SML-09': 'SML-09 content that causes requests or excessive work is rejected first',
  'SML-10': 'SML-10 a response to another request is rejected',
  'SML-11': 'SML-11 a response is valid only in its time',
  'SML-12': 'SML-12 a response for another recipient is rejected',
  'SML-14': 'SML-14 a response of another provider is rejected',
  'SML-15': 'SML-15 an unsolicited response is rejected',
  'SML-19': 'SML-19 a status other than success is final, whatever else is sent',
  'SML-21': 'SML-21 names that two readers resolve differently are rejected',
}

for (const [attack, sentence] of Object.entries(attacks))
  test(sentence, async () => {
    const entries = corpus.filter((entry) => entry.kind === 'hostile' && entry.case === attack)
    assert.ok(entries.length > 0)
    for (const entry of entries)
      assert.equal(await objectionTo(read(entry)), entry.because, `${entry.name}: ${entry.what}`)
  })

test('SML-20 every shape that an honest provider gives its answer is accepted', async () => {
  const entries = corpus.filter(({ kind }) => kind === 'valid')
  assert.ok(entries.length >= 16)
  for (const entry of entries) {
    assert.equal(await objectionTo(read(entry)), undefined, `${entry.name}: ${entry.what}`)
    const { subject, assertionId, notOnOrAfter } = await finish(read(entry))
    assert.ok(subject.length > 0 && assertionId === '_a1' && notOnOrAfter instanceof Date, entry.name)
  }
})

test('the corpus has hostile documents for each attack, and as many as before', () => {
  const hostile = corpus.filter(({ kind, because }) => kind === 'hostile' && because !== undefined)
  assert.equal(hostile.length, 254)
  assert.equal(corpus.length, 310)
  assert.deepEqual([...new Set(hostile.map((entry) => entry.case))].toSorted(), Object.keys(attacks))
})

test('SML-09 nothing that is sent keeps the reader busy for fifty milliseconds', async () => {
  for (const entry of corpus.filter((each) => each.case === 'SML-09')) {
    const sent = read(entry)
    await objectionTo(sent)
    // Other work of the process, such as collecting garbage, only adds to it.
    let least = Infinity
    for (let attempt = 0; attempt < 5 && least >= 50; attempt += 1) {
      const before = process.cpuUsage()
      await objectionTo(sent)
      const { user, system } = process.cpuUsage(before)
      least = Math.min(least, (user + system) / 1000)
    }
    assert.ok(least < 50, `${entry.name}: ${entry.what} takes ${least} ms`)
  }
})

test("a response contains the user's attributes as the provider sent them", async () => {
  assert.deepEqual(await finish(Buffer.from(signedResponse()).toString('base64')), {
    subject: 'ann-7f3c',
    email: 'ann@acme.example',
    emailVerified: true,
    displayName: 'Ann Archer',
    attributes: [
      { name: 'email', value: 'ann@acme.example' },
      { name: 'displayName', value: 'Ann Archer' },
    ],
    assertionId: '_a1',
    notOnOrAfter: new Date(instant(300)),
  })
})

test('a response contains each value of an attribute, also of one that is repeated', async () => {
  const values = [attribute('roles', 'a', ' b '), attribute('roles', 'c'), attribute('none')]
  const attributes = `<saml:AttributeStatement>${values.join('')}</saml:AttributeStatement>`
  const user = await finish(Buffer.from(signedResponse({ attributes })).toString('base64'))
  const read = user.attributes.map(({ name, value }) => `${name}=${value}`)
  assert.deepEqual(read, ['roles=a', 'roles=b', 'roles=c'])
})

test('SML-11 a response is valid exactly until its expiry plus the clock tolerance', async () => {
  const answer = Buffer.from(signedResponse()).toString('base64')
  const end = new Date(now.getTime() + (300 + limits.clockSkewSecondsMax) * 1000)
  assert.equal(await objectionTo(answer, new Date(end.getTime() - 1)), undefined)
  assert.equal(await objectionTo(answer, end), 'expired')
})

test('SML-04 a key that was removed from the connection is no longer trusted', async () => {
  const answer = { samlResponse: Buffer.from(signedResponse()).toString('base64'), requestId, findKeys }
  const only = (certificates: string[]) => ({
    ...connection,
    identityProvider: { ...connection.identityProvider, certificates },
  })
  const isAccepted = async (certificates: string[]) =>
    'user' in (await verifySamlResponse(only(certificates), answer, { now, limits }))
  assert.equal(await isAccepted([provider.certificate]), true)
  assert.equal(await isAccepted([stranger.certificate]), false)
  assert.equal(await isAccepted([]), false)
})

test('SML-03 SML-07 no character of an answer that is changed makes it name another user', async () => {
  // A part of the plain ones, and all that are encrypted.
  const valid = corpus.filter(({ kind }) => kind === 'valid')
  const answers = [...valid.slice(0, 19), ...valid.slice(39)].map(read)
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

test('an encrypted assertion is rejected if no key was published', async () => {
  const samlResponse = Buffer.from(encrypted(signedResponse())).toString('base64')
  const answer = { samlResponse, requestId, findKeys: async () => [] }
  assert.deepEqual(await verifySamlResponse(connection, answer, { now, limits }), {
    refused: { kind: 'invalid', because: 'encrypted' },
  })
})

test('SML-07 an encrypted response names the same user as the plain one', async () => {
  const [clear, hidden] = [signedResponse(), encrypted(signedResponse())].map((one) => Buffer.from(one))
  assert.ok(clear && hidden && !hidden.includes('ann@acme.example'))
  assert.deepEqual(await finish(hidden.toString('base64')), await finish(clear.toString('base64')))
})

test('SML-23 a signed part with too many elements or attributes is rejected before it is verified', async () => {
  const sent = (part: string, count: number) =>
    Buffer.from(sign(response(assertion({ attributes: part.repeat(count) })), '_a1')).toString('base64')
  assert.equal(await objectionTo(sent('<b/>', limits.samlSignedElementsMax)), 'too_many_elements')
  const element = `<b${Array.from({ length: 20 }, (_, nth) => ` a${nth}=""`).join('')}/>`
  assert.equal(await objectionTo(sent(element, limits.samlSignedAttributesMax / 20)), 'too_many_attributes')
})

test('SML-23 what the signature does not cover counts too if the library reads it', async () => {
  const named = (count: number, attribute: (nth: number) => string) =>
    Array.from({ length: count }, (_, nth) => ` ${attribute(nth)}`).join('')
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  const declaring = (count: number) => sign(response(assertion({ attributes: part.repeat(count) })), '_a1')
  const part = `<saml:AttributeStatement${named(25, (nth) => `xmlns:n${nth}="u:${nth}"`)}/>`
  const few = declaring(limits.samlSignedAttributesMax / 25 - 2)
  assert.equal(await objectionTo(encoded(few)), undefined)
  assert.equal(await objectionTo(encoded(declaring(limits.samlSignedAttributesMax / 25))), 'too_many_attributes')
  const value = '<ds:SignatureValue'
  const widened = swap(few, value, value + named(60, (nth) => `a${nth}=""`))
  assert.equal(await objectionTo(encoded(widened)), 'too_many_attributes')
})

test('SML-23 what is added to the unsigned KeyInfo of a signature does not reach the library', async () => {
  const added = `${'<b a=""/>'.repeat(4000)}<ds:X509Data/>`
  const sent = Buffer.from(swap(signedResponse(), '<ds:KeyInfo>', `<ds:KeyInfo>${added}`)).toString('base64')
  const costs: number[] = []
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const before = process.cpuUsage()
    assert.equal(await objectionTo(sent), undefined)
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / 1000)
  }
  assert.ok(Math.min(...costs) < 50, `it takes ${Math.min(...costs)} ms`)
})

test('a response that is not fully valid base64 is rejected', async () => {
  const answer = Buffer.from(signedResponse()).toString('base64')
  for (const sent of ['', '%%%', `${answer}!`, `!${answer}`, answer.slice(0, -1).replace(/=+$/, ''), `${answer}AAAA`])
    assert.equal(await objectionTo(sent), 'form', sent.slice(0, 10))
  assert.equal(await objectionTo(answer.replaceAll(/(.{76})/g, '$1\r\n')), undefined)
})
