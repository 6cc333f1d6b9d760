import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { createWorld } from '#testing/world.ts'

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
  return createOutboundClient({ baseUrl, outboundNetworks }, (_name, _options, found: Found) => {
    found(null, [{ address: addresses.shift() ?? '203.0.113.1', family: 4 }])
  })
}

const sent = { headers: {}, body: '{}', withinMilliseconds: 3000 }
const refused = { reason: 'address_not_allowed' }

test('WHK-25 no webhook of the service leads to a private address, in any spelling or by a name', async () => {
  const hosts = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '10.0.0.5', '169.254.169.254']
  hosts.push('localhost', 'localhost.', 'app.localhost', '[::1]', '[::ffff:127.0.0.1]', '[fd00::5]', '0')
  for (const host of hosts) {
    const { ofOperator } = clientAt(['127.0.0.1'])
    const url = `https://${host}:${port}/`
    assert.ok(ofOperator.objectionTo(url) !== undefined, url)
    await assert.rejects(ofOperator.post(url, sent), refused, url)
  }
  for (const address of ['127.0.0.1', '10.1.2.3', '::1', '169.254.169.254'])
    await assert.rejects(clientAt([address]).ofOperator.post(`https://a.example.com:${port}/`, sent), refused)
  // A name that changes its address after the check leads nowhere else.
  const changing = clientAt(['203.0.113.1', '127.0.0.1'])
  assert.equal(changing.ofOperator.objectionTo('https://a.example.com/'), undefined)
  assert.equal(callers, 0)
})

test('WHK-25 OUTBOUND_NETWORKS permits its host and port to the service, and not to apps of users', async () => {
  const listed = [`events.example.com:${port}`, `10.0.0.5:8443`]
  const url = `https://events.example.com:${port}/`
  const client = clientAt(['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1'], listed)
  assert.equal(client.ofOperator.objectionTo('https://10.0.0.5:8443/'), undefined)
  assert.ok(client.objectionTo('https://10.0.0.5:8443/') !== undefined)
  for (const other of [`https://events.example.com/`, `https://other.example.com:${port}/`])
    await assert.rejects(client.ofOperator.post(other, sent), refused)
  await assert.rejects(client.post(url, sent), refused, 'an app leads there')
  assert.equal(callers, 0)
  await assert.rejects(client.ofOperator.post(url, sent), (error: Error) => !error.message.includes(refused.reason))
  assert.equal(callers, 1)
})

test('WHK-25 the service refuses such a URL, and a stored one leads nowhere', async (t) => {
  const environment = {
    BASE_URL: 'https://api.id.example.com',
    AUTH_URL: 'https://id.example.com',
    ALLOW_EMBEDDED: '1',
  }
  const world = await createWorld({ environment })
  const sender = startSender(world.kernel)
  t.after(async () => {
    await sender.stop()
    await world.close()
  })
  const send = (method: 'POST' | 'PATCH' | 'GET', path: string, payload?: object) =>
    world.api.inject({ method, url: `/api/admin/webhooks${path}`, headers: world.admin, ...(payload && { payload }) })
  const made = await send('POST', '', { url: 'https://events.example.com/' })
  assert.equal(made.statusCode, 201, made.body)
  const path = `/${made.json().webhook.webhookId}`
  const url = `https://127.0.0.1:${port}/`
  for (const answer of [await send('POST', '', { url }), await send('PATCH', path, { url })])
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'])
  await world.db.updateTable('webhook_endpoint').set({ url }).execute()
  const before = callers
  await send('POST', `${path}/test`)
  const lastAttempt = async () => (await send('GET', path)).json<ServiceWebhook>().lastAttempt
  while ((await lastAttempt()) === null) await turn()
  const { status, reason } = (await lastAttempt()) ?? {}
  assert.deepEqual([status, reason], [null, 'could_not_connect'])
  assert.equal(callers, before)
})
