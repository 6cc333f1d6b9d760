import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fastCheck from 'fast-check'
import { newToken, readToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'

test('a token carries its route, and 256 random bits that no other has', () => {
  const id = randomUUID()
  const [one, two] = [newToken('access', uuidToBytes(id)), newToken('access', uuidToBytes(id))]
  assert.match(one, /^cs_at_[A-Za-z0-9_-]{70}$/)
  assert.notEqual(one, two)
  assert.equal(uuidFromBytes(readToken('access', one, 16) ?? Buffer.alloc(0)), id)
})

test('JWT-09 a token with any one character changed, cut or added is none', () => {
  const token = newToken('session', uuidToBytes(randomUUID()))
  assert.ok(readToken('session', token, 16))
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'A' ? 'B' : 'A'
    assert.equal(readToken('session', token.slice(0, at) + other + token.slice(at + 1), 16), undefined)
    assert.equal(readToken('session', token.slice(0, at), 16), undefined)
  }
  for (const altered of [`${token}=`, ` ${token}`, token.toUpperCase(), token.replace('cs_session_', 'cs_at_')])
    assert.equal(readToken('session', altered, 16), undefined)
})

test('no text makes the reading of a token fail', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.string(), (text) => readToken('code', `cs_code_${text}`, 32) === undefined),
  )
})
