import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { createSinkClient } from '#platform/outbound/sink-client.ts'
import { startSyslogReceiver } from '#testing/syslog-receiver.ts'

const baseUrl = new URL('https://api.id.example.com')

let port = 0
let callers = 0
const canary = createServer((socket) => {
  callers += 1
  socket.destroy()
})
before(async () => {
  await once(canary.listen(0, '127.0.0.1'), 'listening')
  const address = canary.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
after(() => {
  canary.close()
})

type Found = (error: null, found: LookupAddress[]) => void

/** Creates a client for which each look-up of a name gives the next of some addresses. */
function clientAt(addresses: string[], outboundNetworks: string[] = []) {
  return createSinkClient({ baseUrl, outboundNetworks }, (_name, _options, found: Found) => {
    found(null, [{ address: addresses.shift() ?? '203.0.113.1', family: 4 }])
  })
}

const sent = () => ({ withinMilliseconds: 3000, signal: new AbortController().signal })
const bytes = Buffer.from('5 hello')

test('AUD-04 no sink leads to a private address, in any spelling or by a name', async () => {
  const hosts = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '10.0.0.5', '169.254.169.254']
  hosts.push('localhost', 'localhost.', 'app.localhost', '[::1]', '[::ffff:127.0.0.1]', '[fd00::5]', '0')
  for (const host of hosts) {
    const client = clientAt(['127.0.0.1'])
    for (const target of [
      { kind: 'http', url: `https://${host}:${port}/`, caPem: null },
      { kind: 'syslog', url: `tls://${host}:${port}`, caPem: null },
    ] as const) {
      assert.ok(client.objectionTo(target) !== undefined, target.url)
      const attempt =
        target.kind === 'http'
          ? client.post(target, { ...sent(), headers: {}, body: '' })
          : client.write(target, { ...sent(), bytes })
      await assert.rejects(attempt, { reason: 'address_not_allowed' }, target.url)
    }
  }
  for (const address of ['127.0.0.1', '10.1.2.3', '::1', '169.254.169.254']) {
    const client = clientAt([address, address])
    const http = { kind: 'http', url: `https://siem.example.com:${port}/`, caPem: null } as const
    const syslog = { kind: 'syslog', url: `tls://siem.example.com:${port}`, caPem: null } as const
    await assert.rejects(client.post(http, { ...sent(), headers: {}, body: '' }), { reason: 'address_not_allowed' })
    await assert.rejects(client.write(syslog, { ...sent(), bytes }), { reason: 'address_not_allowed' })
  }
  assert.equal(callers, 0)
})

test('AUD-04 a name that is public when it is checked, and private when it is connected, is refused', async () => {
  const client = clientAt(['127.0.0.1'])
  const target = { kind: 'syslog', url: `tls://siem.example.com:${port}`, caPem: null } as const
  assert.equal(client.objectionTo(target), undefined)
  await assert.rejects(client.write(target, { ...sent(), bytes }), { reason: 'address_not_allowed' })
  assert.equal(callers, 0)
})

test('AUD-04 OUTBOUND_NETWORKS permits exactly the host and port that it lists', async () => {
  const receiver = await startSyslogReceiver()
  const listed = { kind: 'syslog', url: receiver.url, caPem: receiver.caPem } as const
  const client = clientAt(['127.0.0.1', '127.0.0.1', '127.0.0.1'], [`localhost:${receiver.port}`])
  await client.write(listed, { ...sent(), bytes: Buffer.from('5 hello') })
  await receiver.until(() => receiver.messages.length > 0)
  assert.deepEqual(receiver.messages, ['hello'])
  for (const url of [`tls://localhost:${port}`, `tls://127.0.0.1:${receiver.port}`])
    await assert.rejects(client.write({ ...listed, url }, { ...sent(), bytes }), { reason: 'address_not_allowed' })
  await assert.rejects(client.write({ ...listed, caPem: null }, { ...sent(), bytes }), /SELF_SIGNED|self.signed|usable/)
  assert.equal(callers, 0)
  await receiver.close()
})
