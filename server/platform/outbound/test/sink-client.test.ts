import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { after, before, test } from 'node:test'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { type Certified, createCertificate } from '#testing/certificates.ts'
import { startSyslogReceiver } from '#testing/syslog-receiver.ts'

const { sinks } = createOutboundClient({ baseUrl: new URL('http://localhost:4400') }, (_name, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]),
)
const limits = { withinMilliseconds: 10_000, signal: new AbortController().signal }
const untrusted = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE)$/

let other: Certified
before(async () => {
  other = await createCertificate()
})

/** Starts a receiver over HTTPS that counts its requests. */
async function startHttpsReceiver() {
  const certified = await createCertificate()
  const requested: string[] = []
  const server = createServer(certified, (request, response) => {
    requested.push(request.url ?? '')
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { port: address.port, caPem: certified.cert, requested }
}

test('AUD-15 nothing is sent by HTTPS to a receiver that the authority of the sink has not certified', async () => {
  const { port, caPem, requested } = await startHttpsReceiver()
  const post = (host: string, ca: string | null) =>
    sinks.post({ kind: 'http', url: `https://${host}:${port}/`, caPem: ca }, { ...limits, headers: {}, body: '[]' })
  assert.equal(await post('localhost', caPem), 204)
  for (const ca of [null, other.cert])
    await assert.rejects(post('localhost', ca), ({ reason }: { reason: string }) => untrusted.test(reason))
  await assert.rejects(post('siem.example', caPem), { reason: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  assert.equal(requested.length, 1)
})

test('AUD-15 nothing is sent as syslog to a receiver that the authority of the sink has not certified', async () => {
  const receiver = await startSyslogReceiver()
  after(receiver.close)
  const bytes = Buffer.from('5 event')
  const write = (host: string, ca: string | null) =>
    sinks.write({ kind: 'syslog', url: `tls://${host}:${receiver.port}`, caPem: ca }, { ...limits, bytes })
  for (const ca of [null, other.cert])
    await assert.rejects(write('localhost', ca), ({ reason }: { reason: string }) => untrusted.test(reason))
  await assert.rejects(write('siem.example', receiver.caPem), { reason: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await write('localhost', receiver.caPem)
  await receiver.until(() => receiver.messages.length > 0)
  assert.deepEqual(receiver.messages, ['event'])
})
