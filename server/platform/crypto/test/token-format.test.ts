import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fastCheck from 'fast-check'
import { generateToken, parseToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'

test('a token contains its routing key and 256 unique random bits', () => {
  const id = randomUUID()
  const [one, two] = [generateToken('access', uuidToBytes(id)), generateToken('access', uuidToBytes(id))]
  assert.match(one, /^cs_at_[A-Za-z0-9_-]{70}$/)
  assert.notEqual(one, two)
  assert.equal(uuidFromBytes(parseToken('access', one, 16) ?? Buffer.alloc(0)), id)
})

test('JWT-09 a token with one character changed, removed or added is rejected', () => {
  const token = generateToken('session', uuidToBytes(randomUUID()))
  assert.ok(parseToken('session', token, 16))
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'A' ? 'B' : 'A'
    assert.equal(parseToken('session', token.slice(0, at) + other + token.slice(at + 1), 16), undefined)
    assert.equal(parseToken('session', token.slice(0, at), 16), undefined)
  }
  for (const altered of [`${token}=`, ` ${token}`, token.toUpperCase(), token.replace('cs_session_', 'cs_at_')])
    assert.equal(parseToken('session', altered, 16), undefined)
})

test('no text makes the token parser throw', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.string(), (text) => parseToken('code', `cs_code_${text}`, 32) === undefined),
  )
})
