import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTextFormat } from '../log-text.ts'

const plain = { colors: false }
const at = new Date(2030, 0, 2, 13, 41, 7).getTime()
const request = {
  level: 30,
  time: at,
  requestId: '3f1c9a2b-0000-4000-8000-000000000000',
  method: 'GET',
  route: '/api/invitations/:token',
  status: 200,
  milliseconds: 3.1,
}

function textOf(entry: object, options: Parameters<typeof createTextFormat>[0] = plain): string {
  return createTextFormat(options)(`${JSON.stringify({ level: 30, time: at, ...entry })}\n`)
}

test('at a terminal a request is one short line, with its whole ID if it failed', () => {
  assert.equal(textOf(request), '13:41:07  GET     200  /api/invitations/:token  3.1 ms  3f1c9a2b\n')
  assert.equal(
    textOf({ ...request, status: 404, refusal: 'not_found', route: 'none' }),
    `13:41:07  GET     404  (unknown path)  not_found  3.1 ms  ${request.requestId}\n`,
  )
})

test('files of a page and health checks are shown at a terminal only if they fail', () => {
  for (const route of ['/assets/*', '/healthz', '/dev/mail/messages']) {
    assert.equal(textOf({ ...request, route }), '')
    assert.match(textOf({ ...request, route, status: 500 }), /500/)
  }
})

test('a mail at a terminal shows its recipient and where to read it, and no code', () => {
  const mail = { to: 'ada@example.com', subject: 'Your code', text: '123456', inbox: 'http://localhost:4401/dev/mail' }
  const text = textOf({ mail, msg: 'mail not sent' })
  assert.equal(text, '13:41:07  mail    ada@example.com  Your code  http://localhost:4401/dev/mail\n')
})

test('other messages show their fields, and errors their stack', () => {
  assert.equal(textOf({ level: 40, msg: 'waiting', reason: 'away' }), '13:41:07  warn    waiting  reason=away\n')
  const error = { name: 'Error', message: 'it broke', stack: 'Error: it broke\n    at file.ts:1:1' }
  assert.equal(
    textOf({ level: 50, msg: 'request failed', error }),
    '13:41:07  error   request failed\n          Error: it broke\n              at file.ts:1:1\n',
  )
})

test('HLP-03 no text in the log controls the terminal', () => {
  const hostile = '\u001B]0;owned\u0007\u009B2J\u202E\r\nroot# '
  for (const entry of [
    { ...request, method: hostile, route: hostile, refusal: hostile, requestId: hostile },
    { mail: { to: hostile, subject: hostile, inbox: hostile } },
    { level: 50, msg: hostile, [hostile]: hostile, error: { name: hostile, message: hostile } },
    { level: 50, msg: 'x', error: { name: 'E', message: 'm', stack: hostile }, of: { object: hostile } },
  ])
    assert.doesNotMatch(textOf(entry).replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
  const [first = '', ...others] = textOf({ ...request, refusal: hostile })
    .trimEnd()
    .split('\n')
  assert.match(first, /\\u001b/)
  assert.deepEqual(others, [])
})

test('colors are used where the terminal has them', () => {
  assert.ok(textOf(request, { colors: true }).includes('\u001B[32m200\u001B[0m'))
  assert.ok(!textOf(request).includes('\u001B'))
})

test('the addresses of the service are repeated between the lines', () => {
  const format = createTextFormat({ colors: false, reminder: 'start here http://localhost:4401' })
  const lines = Array.from({ length: 80 }, () => format(JSON.stringify(request)))
    .join('')
    .split('\n')
  assert.equal(lines.filter((line) => line.endsWith('start here http://localhost:4401')).length, 2)
})
