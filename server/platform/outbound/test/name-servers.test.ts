import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startNameServer } from '#testing/name-server.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { createDnsResolver } from '#platform/outbound/dns-resolver.ts'

const server = await startNameServer()
const nameServers = createDnsResolver({ dnsServers: [server.address] })
after(() => server.close())

test('each TXT record is returned as one text, however it is split', async () => {
  server.setTexts('many.example', 'one', ['tw', 'o'], 'x'.repeat(255), ['y'.repeat(255), 'y'.repeat(45)])
  const found = await nameServers.readTexts('many.example')
  assert.ok(found.kind === 'texts')
  assert.deepEqual(found.texts.toSorted(), ['one', 'two', 'x'.repeat(255), 'y'.repeat(300)])
})

test('a changed record is visible at once, whatever the TTL of the previous response', async () => {
  server.setTexts('changing.example', 'before')
  assert.deepEqual(await nameServers.readTexts('changing.example'), { kind: 'texts', texts: ['before'] })
  server.setTexts('changing.example', 'after')
  assert.deepEqual(await nameServers.readTexts('changing.example'), { kind: 'texts', texts: ['after'] })
})

test('a name that does not exist or has only other records has no TXT records', async () => {
  assert.deepEqual(await nameServers.readTexts('nowhere.example'), { kind: 'texts', texts: [] })
  server.setTexts('empty.example')
  assert.deepEqual(await nameServers.readTexts('empty.example'), { kind: 'texts', texts: [] })
})

test('DOM-02 the TXT records of an alias’s target are not those of the name', async () => {
  server.setAlias('alias.example', 'target.example', 'the text')
  server.setAlias('dangling.example', 'nowhere.example')
  assert.deepEqual(await nameServers.readTexts('alias.example'), { kind: 'alias' })
  assert.deepEqual(await nameServers.readTexts('dangling.example'), { kind: 'alias' })
})

test('DOM-08 a name server that fails or refuses gives no result', async () => {
  server.fail('broken.example', 'SERVFAIL')
  server.fail('refused.example', 'REFUSED')
  assert.deepEqual(await nameServers.readTexts('broken.example'), { kind: 'no answer', reason: 'ESERVFAIL' })
  assert.deepEqual(await nameServers.readTexts('refused.example'), { kind: 'no answer', reason: 'EREFUSED' })
})

test('DOM-08 a silent name server is awaited for five seconds, by at most fifty look-ups', async () => {
  server.stayAway('silent.example')
  using watch = startStopwatch()
  const answers = await Promise.all(Array.from({ length: 60 }, () => nameServers.readTexts('silent.example')))
  assert.ok(watch.milliseconds() < 7000)
  const reasons = answers.map((answer) => (answer.kind === 'no answer' ? answer.reason : answer.kind))
  assert.equal(reasons.filter((reason) => reason === 'too_many_questions').length, 10)
  const expected = new Set(['too_many_questions', 'ETIMEOUT', 'ECANCELLED'])
  assert.deepEqual(new Set(reasons).difference(expected), new Set())
  server.setTexts('silent.example', 'here')
  assert.deepEqual(await nameServers.readTexts('silent.example'), { kind: 'texts', texts: ['here'] })
})

test('DOM-08 a response of maximum size is parsed, and one with too many records gives no result', async () => {
  server.setTexts(
    'large.example',
    ...Array.from({ length: 60 }, () => Array.from({ length: 4 }, () => 'z'.repeat(255))),
  )
  const large = await nameServers.readTexts('large.example')
  assert.ok(large.kind === 'texts')
  assert.equal(large.texts.length, 60)

  server.setTexts('many.example', ...Array.from({ length: 10_000 }, () => 'z'))
  assert.deepEqual(await nameServers.readTexts('many.example'), { kind: 'no answer', reason: 'too_many_records' })
})

test('an unreachable name server gives no result', async () => {
  const gone = await startNameServer()
  await gone.close()
  const answer = await createDnsResolver({ dnsServers: [gone.address] }).readTexts('acme.example')
  assert.equal(answer.kind, 'no answer')
})
