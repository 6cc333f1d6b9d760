import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, NetworkError, parseResponse } from '../call.ts'
import { en } from '../../../locales/en/messages.ts'
import { loadMessages } from '../../../locales/messages.ts'
import { CeremonyError } from '../../keys/passkey.ts'
import { errorMessage, isUnexpectedError } from '../error-message.ts'

test('a refusal is told in our words where we have them, else in the server’s', () => {
  assert.equal(errorMessage(new ApiError(401, 'unauthorized', 'x'), en), en.problem.refused.unauthorized)
  assert.equal(errorMessage(new ApiError(400, 'no_such_code', 'The server’s sentence.'), en), 'The server’s sentence.')
  assert.equal(errorMessage(new ApiError(400, 'toString', 'The server’s sentence.'), en), 'The server’s sentence.')
})

test('a refusal of too many requests says how long to wait, in each language', async () => {
  const waits: [retryAfter: string | undefined, ...texts: string[]][] = [
    ['1', '1 second', '1 Sekunde', 'ثانية'],
    ['3', '3 seconds', '3 Sekunden', '3 ثوان'],
    ['60', '1 minute', '1 Minute', 'دقيقة'],
    [undefined, '1 minute', '1 Minute', 'دقيقة'],
    ['61', '2 minutes', '2 Minuten', 'دقيقتان'],
    ['1200', '20 minutes', '20 Minuten', '20 دقيقة'],
    ['7199', '2 hours', '2 Stunden', 'ساعتان'],
    ['7200', '2 hours', '2 Stunden', 'ساعتان'],
    ['82800', '23 hours', '23 Stunden', '23 ساعة'],
  ]
  const [de, ar] = await Promise.all([loadMessages('de'), loadMessages('ar')])
  for (const [retryAfter, english, german, arabic] of waits) {
    const headers = { ...(retryAfter !== undefined && { 'retry-after': retryAfter }) }
    const refusal = Response.json({ error: 'rate_limited' }, { status: 429, headers })
    const error = await parseResponse(refusal).catch((thrown: unknown) => thrown)
    assert.equal(errorMessage(error, en), `Too many attempts. Wait ${english} and try again.`)
    assert.equal(errorMessage(error, de), `Zu viele Versuche. Warte ${german} und versuche es noch einmal.`)
    assert.equal(errorMessage(error, ar), `المحاولات كثيرة جدًا. انتظر ثم حاول مرة أخرى. المدة: ${arabic}.`)
  }
})

test('a suspended account has the operator’s reason, which cannot turn the sentence around', () => {
  const error = new ApiError(403, 'account_suspended', 'x', { reason: 'Left \u202Ethe company', until: null })
  const text = errorMessage(error, en)
  assert.match(text, /suspended/)
  assert.ok(text.includes('\u2068Left the company\u2069'))
  const unexplained = new ApiError(403, 'account_suspended', 'x', {})
  assert.equal(errorMessage(unexplained, en), en.problem.refused.account_suspended)
})

test('a dialog that was closed and a lost connection are ordinary, and each is told as what it is', () => {
  assert.equal(errorMessage(new CeremonyError('declined'), en), en.problem.ceremony.declined)
  assert.equal(errorMessage(new NetworkError(), en), en.problem.unreachable)
  for (const ordinary of [new CeremonyError('declined'), new NetworkError()])
    assert.equal(isUnexpectedError(ordinary), false)
})

test('a bug of the page is told without its innards', () => {
  const bug = new TypeError('x is not a function')
  assert.equal(errorMessage(bug, en), en.problem.unexpected)
  assert.equal(isUnexpectedError(bug), true)
})
