import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { after, test } from 'node:test'
import { startNameServer } from '#testing/name-server.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { addressesIn, createHostResolver, createMachineLookup } from '#platform/outbound/host-lookup.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'

const local = { baseUrl: new URL('http://localhost:4400') }
const hosted = { baseUrl: new URL('https://api.id.example.com') }
const sent = { headers: {}, body: '{}', withinMilliseconds: 5000 }

const server = await startNameServer()
after(() => server.close())

type NamedBy = 'list' | 'operator' | 'anyone'
const never = new AbortController().signal

/** Creates a resolver with this name server, and names that only the machine knows. */
function resolverWith(machineKnows: Record<string, string> = {}, families = [4, 6]) {
  const lookedUpByMachine: string[] = []
  const resolveName = createHostResolver({
    nameServers: [server.address],
    findFamilies: () => new Set(families),
    async lookUpByMachine(hostname) {
      lookedUpByMachine.push(hostname)
      const address = machineKnows[hostname]
      if (address === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })
      return [{ address, family: 4 }]
    },
  })
  function find(hostname: string, namedBy: NamedBy = 'anyone', signal = never): Promise<string[]> {
    return new Promise((resolve, reject) => {
      resolveName(hostname, { namedBy, signal }, (error, found) =>
        error ? reject(error) : resolve(found.map(({ address }) => address)),
      )
    })
  }
  return { resolveName, find, lookedUpByMachine }
}

const silentNames = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map((each) => `${each}.example`)
for (const name of silentNames) server.stayAway(name)

test('WHK-28 names whose name server is silent delay no request to another receiver', async (t) => {
  const receiver = await startWebhookReceiver()
  t.after(receiver.close)
  server.setAddresses('well.example', ['127.0.0.1'])
  const { resolveName, lookedUpByMachine } = resolverWith()
  const outbound = createOutboundClient(local, resolveName)
  using watch = startStopwatch()
  const ending = new AbortController()
  const silent = silentNames.map((name) => outbound.post(`https://${name}/`, { ...sent, signal: ending.signal }))
  const ended = Promise.allSettled(silent)
  for (const host of ['localhost', 'hooks.localhost'])
    assert.equal((await outbound.post(`http://${host}:${receiver.port}/`, sent)).status, 204)
  // It responds in clear text, after its name was found.
  await assert.rejects(outbound.post(`https://well.example:${receiver.port}/`, sent), /SSL|EPROTO/)
  const milliseconds = watch.milliseconds()
  assert.ok(milliseconds < 2000, `after ${milliseconds} ms`)
  ending.abort()
  for (const each of await ended) assert.ok(each.status === 'rejected' && each.reason.reason === 'cut_off')
  assert.deepEqual(lookedUpByMachine, [])
})

test('WHK-28 the machine looks up no name that anyone has given, whatever its name server says', async () => {
  server.fail('broken.example', 'SERVFAIL')
  server.setTexts('empty.example', 'no address')
  const { find, lookedUpByMachine } = resolverWith()
  await assert.rejects(find('broken.example'), { code: 'ESERVFAIL' })
  await assert.rejects(find('empty.example'), { code: 'ENOTFOUND' })
  await assert.rejects(find('nowhere.example'), { code: 'ENOTFOUND' })
  const ending = new AbortController()
  const ended = assert.rejects(find('one.example', 'anyone', ending.signal), { code: 'ECANCELLED' })
  ending.abort()
  await ended
  await assert.rejects(find('one.example', 'anyone', AbortSignal.abort()), { code: 'ECANCELLED' })
  assert.deepEqual(lookedUpByMachine, [])
})

test('the machine looks up what OUTBOUND_NETWORKS lists, and names of operators that name servers lack', async () => {
  const { find, lookedUpByMachine } = resolverWith({ 'siem.monitoring': '10.0.0.5', intranet: '10.0.0.6' })
  assert.deepEqual(await find('siem.monitoring', 'list'), ['10.0.0.5'])
  assert.deepEqual(
    server.queries.filter((query) => query.endsWith('siem.monitoring')),
    [],
  )
  assert.deepEqual(await find('intranet', 'operator'), ['10.0.0.6'])
  server.fail('failing.example', 'SERVFAIL')
  await assert.rejects(find('failing.example', 'operator'), { code: 'ENOTFOUND' })
  await assert.rejects(find('one.example', 'operator', AbortSignal.timeout(100)), { code: 'ECANCELLED' })
  assert.deepEqual(lookedUpByMachine, ['siem.monitoring', 'intranet', 'failing.example'])
})

test('a name has the addresses of both families, also as an alias, or if one family has no answer', async () => {
  const both = ['93.184.216.34', '2606:2800::1']
  server.setAddresses('both.example', both.toReversed())
  server.setAddresses('alias.example', both, { target: 'both.example' })
  server.setAddresses('old.example', ['93.184.216.34'])
  server.setAddresses('new.example', ['2606:2800::1'])
  server.setAddresses('half.example', ['93.184.216.34'], { silentFor: 'AAAA' })
  const { find } = resolverWith()
  assert.deepEqual(await find('both.example'), both)
  assert.deepEqual(await find('both.example.'), both)
  assert.deepEqual(await find('alias.example'), both)
  assert.deepEqual(await find('old.example'), ['93.184.216.34'])
  assert.deepEqual(await find('new.example'), ['2606:2800::1'])
  using watch = startStopwatch()
  assert.deepEqual(await find('half.example'), ['93.184.216.34'])
  assert.ok(watch.milliseconds() < 1400)
})

test('a machine without addresses of one family uses those of the other alone, if a name has any', async () => {
  server.setAddresses('dual.example', ['93.184.216.34', '64:ff9b::5db8:d822'])
  server.setAddresses('six.example', ['2606:2800::1'])
  const [four, six, neither] = [[4], [6], []].map((families) => resolverWith({}, families))
  assert.deepEqual(await four?.find('dual.example'), ['93.184.216.34'])
  assert.deepEqual(await six?.find('dual.example'), ['64:ff9b::5db8:d822'])
  assert.deepEqual(await neither?.find('dual.example'), ['93.184.216.34', '64:ff9b::5db8:d822'])
  assert.deepEqual(await four?.find('six.example'), ['2606:2800::1'])
  assert.deepEqual(await four?.find('localhost'), ['127.0.0.1'])
})

test('WHK-05 a name leads nowhere if a name server gives it one private address, in either family', async () => {
  const outbound = createOutboundClient(hosted, resolverWith().resolveName)
  for (const inner of ['10.0.0.1', '127.0.0.1', '::1', 'fd00::5', '::ffff:10.0.0.1', '64:ff9b::a00:1']) {
    server.setAddresses('hooks.example', ['93.184.216.34', inner])
    await assert.rejects(outbound.post('https://hooks.example/', sent), { reason: 'address_not_allowed' }, inner)
    server.setAddresses('hooks.example', [inner], { target: 'inner.example' })
    await assert.rejects(outbound.post('https://hooks.example/', sent), { reason: 'address_not_allowed' }, inner)
  }
})

test('a hosts file names addresses before any name server does', async () => {
  const file =
    '# 10.0.0.1 commented\n\n::1 Siem siem.internal # note\n10.0.0.2\tsiem.internal\tother\r\nx siem.internal'
  assert.deepEqual(addressesIn(file, 'siem.internal'), [
    { address: '10.0.0.2', family: 4 },
    { address: '::1', family: 6 },
  ])
  assert.deepEqual(addressesIn(file, 'siem'), [{ address: '::1', family: 6 }])
  assert.deepEqual(addressesIn(file, 'other'), [{ address: '10.0.0.2', family: 4 }])
  for (const name of ['commented', 'note', '10.0.0.2', 'internal', '']) assert.deepEqual(addressesIn(file, name), [])
  server.setAddresses('localhost', ['93.184.216.34'])
  assert.ok((await resolverWith().find('localhost')).every((address) => ['127.0.0.1', '::1'].includes(address)))
})

test('WHK-28 the machine looks up two names at a time, each for all that wait for it', async () => {
  const pending = new Map<string, (found: LookupAddress[]) => void>()
  const begun: string[] = []
  const look = createMachineLookup((hostname) => {
    begun.push(hostname)
    return new Promise((resolve) => void pending.set(hostname, resolve))
  })
  const found = [look('a'), look('a'), look('b'), look('c'), look('c'), look('a')]
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b'])
  pending.get('b')?.([])
  await found[2]
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b', 'c'])
  pending.get('a')?.([{ address: '10.0.0.1', family: 4 }])
  pending.get('c')?.([])
  for (const each of [found[0], found[1], found[5]]) assert.equal((await each)?.length, 1)
  await Promise.all(found)
  const again = look('a')
  await new Promise(setImmediate)
  assert.deepEqual(begun, ['a', 'b', 'c', 'a'], 'no result is kept')
  pending.get('a')?.([])
  await again
})
