import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPassages, type SearchIndex } from '../search.ts'

const index: SearchIndex = {
  pages: [
    ['/help/webhooks', 'Receive webhooks'],
    ['/help/keys', 'Manage keys'],
  ],
  passages: [
    [0, '', 'Receive webhooks', 'Webhooks notify your server about events.'],
    [0, 'retry', 'Retries', 'A delivery that fails is tried again for three days, with the secret of the webhook.'],
    [1, 'secret', 'Replace the secret', `${'Long text before. '.repeat(30)}The client secret stays valid for an hour.`],
  ],
}

test('a word in a heading comes before the same word in a text', () => {
  const urls = findPassages(index, 'secret').map(({ url }) => url)
  assert.deepEqual(urls, ['/help/keys#secret', '/help/webhooks#retry'])
})

test('all words must occur, in any case, also as the beginning of a word', () => {
  assert.deepEqual(
    findPassages(index, 'DELIV secret').map(({ heading }) => heading),
    ['Retries'],
  )
  assert.deepEqual(findPassages(index, 'secret nowhere'), [])
  assert.deepEqual(findPassages(index, '   '), [])
})

test('an excerpt shows the match, as every second part', () => {
  const [hit] = findPassages(index, 'hour')
  assert.ok(hit)
  assert.equal(hit.excerpt[1], 'hour')
  assert.match(hit.excerpt[0] ?? '', /^… .+stays valid for an $/)
})

test('HLP-08 a query is text: it is no pattern, and a long one ends at once', () => {
  assert.deepEqual(findPassages(index, '(.*)+$ [a-z'), [])
  const before = process.cpuUsage()
  findPassages(index, 'e '.repeat(100_000))
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 500_000, `${user + system} µs of processor time`)
})
