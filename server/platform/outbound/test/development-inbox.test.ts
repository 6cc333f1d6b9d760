import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMailRelay, type DevelopmentMail } from '../development-inbox.ts'

const mail = { id: '1', at: '2030-01-01T12:00:00.000Z', to: 'ada@example.com', subject: 'Code', text: '123456' }

function createReceiver() {
  const received: DevelopmentMail[] = []
  return { received, send: (message: { developmentMail: DevelopmentMail }) => received.push(message.developmentMail) }
}

test('a mail of a worker reaches all others, and later a new one in the same order', () => {
  const relay = createMailRelay()
  const [second, third] = [createReceiver(), createReceiver()]
  relay.pass({ developmentMail: mail }, [second])
  relay.pass({ developmentMail: { ...mail, id: '2' } }, [second])
  relay.introduce(third)
  for (const { received } of [second, third])
    assert.deepEqual(
      received.map(({ id }) => id),
      ['1', '2'],
    )
})

test('other messages of workers are not mails', () => {
  const relay = createMailRelay()
  const other = createReceiver()
  for (const message of ['ready', null, { metrics: [] }, { developmentMail: null }, { developmentMail: { id: '1' } }])
    relay.pass(message, [other])
  relay.introduce(other)
  assert.deepEqual(other.received, [])
})
