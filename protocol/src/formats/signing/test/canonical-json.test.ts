import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastCheck from 'fast-check'
import { type Json, parseCanonicalJson, writeCanonicalJson } from '../canonical-json.ts'

test('members are sorted as in the example of RFC 8785 §3.2.3', () => {
  const members = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  const written = writeCanonicalJson(members)
  const order = ['Carriage', 'One', 'Control', 'Latin', 'Euro', 'Emoji', 'Hebrew'].map((word) => written.indexOf(word))
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
  assert.equal(written.startsWith(String.raw`{"\r":`), true)
})

test('characters are escaped as in RFC 8785 §3.2.2.2', () => {
  assert.equal(writeCanonicalJson('\u20ac$\u000f\u000aA\'B"\\\\"/\u007f'), '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u007f"')
})

test('a written value is read again, and is what JSON says', () => {
  const leaf = fastCheck.oneof(
    fastCheck.string({ unit: 'binary' }),
    fastCheck.maxSafeInteger().map((number) => number + 0),
    fastCheck.boolean(),
    fastCheck.constant(null),
  )
  const { value: json } = fastCheck.letrec<{ value: Json }>((of) => ({
    value: fastCheck.oneof(
      { maxDepth: 4 },
      leaf,
      fastCheck.array(of('value'), { maxLength: 5 }),
      fastCheck.dictionary(fastCheck.string({ unit: 'binary' }), of('value'), { maxKeys: 5 }),
    ),
  }))
  fastCheck.assert(
    fastCheck.property(json, (value) => {
      const written = writeCanonicalJson(value)
      assert.deepEqual(parseCanonicalJson(written), JSON.parse(JSON.stringify(value)))
    }),
  )
})

const otherSpellings: Record<string, string> = {
  'a space': '{"a": 1}',
  'members in another order': '{"b":1,"a":2}',
  'a member twice': '{"a":1,"a":1}',
  'an escape that is not needed': String.raw`"\u0041"`,
  'half a character': String.raw`"\ud800"`,
  'half a character in a name': String.raw`{"\udc00":1}`,
  'a fraction': '1.5',
  'an exponent': '1e2',
  'a negative zero': '-0',
  'a number that is not exact': '9007199254740992',
  'text after it': '{}x',
  'a byte order mark': '\ufeff{}',
  'no end': '{"a":',
  nothing: '',
}
for (const [what, text] of Object.entries(otherSpellings))
  test(`JSON with ${what} is not canonical`, () => {
    assert.equal(parseCanonicalJson(text), undefined)
  })

test('JSON of any depth is read without running out of stack', () => {
  for (const depth of [17, 100_000]) assert.equal(parseCanonicalJson('['.repeat(depth) + ']'.repeat(depth)), undefined)
  assert.deepEqual(parseCanonicalJson('['.repeat(16) + ']'.repeat(16)), JSON.parse('['.repeat(16) + ']'.repeat(16)))
})

test('JSON of more than 5000 members is not read', () => {
  const object = (members: number) => Object.fromEntries(Array.from({ length: members }, (_, n) => [`a${n}`, ':']))
  const largest = object(5000)
  assert.deepEqual(parseCanonicalJson(writeCanonicalJson(largest)), largest)
  const larger = writeCanonicalJson([largest, object(1)])
  assert.equal(larger, `[${writeCanonicalJson(largest)},{"a0":":"}]`)
  assert.equal(parseCanonicalJson(larger), undefined)
})

test('what has no canonical form is not written', () => {
  for (const value of [1.5, Number.NaN, Infinity, 2 ** 53, '\ud800', { '\ud800': 1 }, [['\udc00']]])
    assert.throws(() => writeCanonicalJson(value), RangeError)
})
