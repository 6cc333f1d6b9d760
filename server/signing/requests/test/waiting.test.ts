import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, test, type TestContext } from 'node:test'
import { registerApp } from '../../../../faults/load/test-user.ts'
import { exchange } from '../../../../faults/load/exchange.ts'
import { registerSigner, type Signer } from '../../../../faults/load/signer.ts'
import { businessRequest } from '#testing/organization.ts'
import { startBeside, startService, type Service } from '#testing/service.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

const isShared = process.env['TEST_DATABASE_URL'] !== undefined
/** Less than a stopping service gives its requests, and far less than the wait time of the callers. */
const patienceMilliseconds = 6000

test('a wait time is a whole number of seconds up to thirty', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  for (const wait of ['31', '-1', '1.5', '01', '1e1', 'NaN', ' 1', '٣'])
    assert.equal((await shop.status(requestId, `&wait=${encodeURIComponent(wait)}`)).json().error, 'invalid_request')
  assert.equal((await shop.status(requestId, '&wait=0')).json().status, 'pending')
  const startedAt = performance.now()
  assert.equal((await shop.status(requestId, '&wait=1')).json().status, 'pending')
  assert.ok(performance.now() - startedAt > 900)
})

test('a caller without access to a request cannot wait for it', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  const stranger = signingRequesterOf(world, await world.app())
  assert.equal((await stranger.status(requestId, '&wait=30')).json().error, 'access_denied')
  assert.equal((await stranger.status(crypto.randomUUID(), '&wait=30')).json().error, 'request_not_found')
})

test('a waiting caller gets the answer when the request expires or its key is rotated', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const [first, second] = [await shop.request(ada.identityId), await shop.request(bob.identityId)]
  const rotated = shop.status(second.json().requestId, '&wait=30')
  await shop.status(second.json().requestId)
  await bob.rotate(rotationOf(bob.identityId, bob.pair, newSigningPair()))
  assert.equal((await rotated).json().status, 'expired')

  world.pass(299)
  const expired = shop.status(first.json().requestId, '&wait=30')
  await shop.status(first.json().requestId)
  world.pass(1)
  assert.equal((await expired).json().status, 'expired')
})

test('a waiting app gets the answer when enough have answered, and each answer is in the audit log', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const [ann, bob] = members
  const { requestId } = (await shop.requestOf(id)).json()
  const waiting = shop.status(requestId, '&wait=20')
  await ann.sign(requestId, ann.pair.sign('Pay 10 €'))
  await bob.approve(requestId, bob.pair.sign('Pay 10 €'))
  assert.equal((await waiting).json().status, 'signed')
  const { entries } = (await businessRequest(world, owner, `GET /organizations/${id}/audit`)).json()
  assert.deepEqual(
    entries.slice(0, 3).map((entry: { action: string; handle: string | null }) => [entry.action, entry.handle]),
    [
      ['organization.signing.approved', bob.handle],
      ['organization.signing.signed', ann.handle],
      ['signing.organization.requested', null],
    ],
  )
})

test('GRW-18 a ninth caller that waits for the same request gets the current status at once', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  const answered: string[] = []
  const waiting = Array.from({ length: 9 }, () =>
    shop.status(requestId, '&wait=30').then((answer) => answered.push(answer.json().status)),
  )
  await Promise.race(waiting)
  assert.deepEqual(answered, ['pending'])
  await ada.deny(requestId)
  await Promise.all(waiting)
  assert.deepEqual(answered, ['pending', ...Array<string>(8).fill('denied')])
})

test('more than five hundred waiting callers block no other request', async () => {
  const signers = await Promise.all(Array.from({ length: 4 }, () => createSigner(world)))
  const requested: { signer: (typeof signers)[number]; requestId: string }[] = []
  for (const signer of signers) {
    await app.tokens(signer)
    for (let n = 0; n < 16; n += 1)
      requested.push({ signer, requestId: (await shop.request(signer.identityId)).json().requestId })
  }
  // Each starts after the one before is admitted: concurrent admissions are limited, and this test is about waiting.
  const waiting: Promise<{ json: () => { status: string } }>[] = []
  for (const { requestId } of requested) {
    for (let n = 0; n < 8; n += 1) waiting.push(shop.status(requestId, '&wait=30'))
    await shop.status(requestId)
  }
  assert.equal(waiting.length, 512)
  const { requestId } = (await shop.request((await createSigner(world)).identityId)).json()
  assert.equal((await shop.status(requestId)).statusCode, 200)
  await Promise.all(requested.map((each) => each.signer.deny(each.requestId)))
  for (const answer of await Promise.all(waiting)) assert.equal(answer.json().status, 'denied')
})

/** Starts a service with a signer and an app that sends requests. */
async function startWithSigner(t: TestContext): Promise<{ service: Service; signer: Signer; app: Registered }> {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const registered = await registerApp(service)
  return { service, app: registered, signer: await registerSigner(service, registered) }
}
type Registered = Awaited<ReturnType<typeof registerApp>>

/** Builds the status URL of a signer's request, with a wait of half a minute. */
function waitingUrl({ baseUrl }: { baseUrl: string }, registered: Registered, requestId: string): string {
  return `${baseUrl}/api/signing/request/${requestId}/status?clientId=${registered.client_id}&wait=30`
}

test('a caller that disconnects frees its place', async (t) => {
  const { service, signer, app: registered } = await startWithSigner(t)
  const request = await signer.ask('Pay 10 €')
  assert.ok(request)
  const url = waitingUrl(service, registered, request.requestId)
  const going = new AbortController()
  const places = Array.from({ length: 9 }, () => fetch(url, { signal: going.signal }))
  const left = Promise.allSettled(places)
  await Promise.race(places)
  going.abort()
  assert.equal((await left).filter(({ status }) => status === 'rejected').length, 8)

  const answeredAtOnce = () =>
    fetch(url, { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    )
  while (await answeredAtOnce());
  const waiting = exchange(url)
  await signer.readStatus(request.requestId)
  await signer.sign(request)
  assert.equal((await waiting)?.body['status'], 'signed')
})

test('many answers over one persistent connection leave nothing behind', async (t) => {
  const { service, signer, app: registered } = await startWithSigner(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (let n = 0; n < 20; n += 1) {
    const request = await signer.ask('Pay 10 €')
    assert.ok(request)
    const waiting = answerOver(agent, waitingUrl(service, registered, request.requestId))
    await signer.readStatus(request.requestId)
    await signer.deny(request)
    assert.match(await waiting, /"status":"denied"/)
  }
  assert.doesNotMatch(service.output(), /MaxListenersExceededWarning/)
})

function answerOver(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => void text(response).then(resolve, reject)).once('error', reject)
  })
}

test('SIGTERM answers the waiting callers and ends the process', async (t) => {
  const { service, signer, app: registered } = await startWithSigner(t)
  const request = await signer.ask('Pay 10 €')
  assert.ok(request)
  const waiting = exchange(waitingUrl(service, registered, request.requestId))
  // A later request has been answered, so this one is waiting.
  await signer.readStatus(request.requestId)
  using watch = startStopwatch()
  const ended = service.end('SIGTERM')
  const answer = await waiting
  assert.equal(answer?.status, 200)
  assert.equal(answer.body['status'], 'pending')
  assert.equal(await ended, 0)
  const milliseconds = watch.milliseconds()
  assert.ok(milliseconds < patienceMilliseconds, `it took ${milliseconds} ms`)
})

if (isShared)
  test('a caller waiting at one process gets an answer given at another', async (t) => {
    const { service, signer, app: registered } = await startWithSigner(t)
    const second = await startBeside(t, service)
    for (const answer of [signer.sign, signer.deny]) {
      const request = await signer.ask('Pay 10 €')
      assert.ok(request)
      const url = waitingUrl(second, registered, request.requestId)
      const waiting = Array.from({ length: 3 }, () => exchange(url))
      await exchange(url.replace('wait=30', 'wait=0'))
      using watch = startStopwatch()
      await answer(request)
      for (const received of await Promise.all(waiting)) assert.equal(received?.body['status'], request.outcome)
      const milliseconds = watch.milliseconds()
      assert.ok(milliseconds < patienceMilliseconds, `it took ${milliseconds} ms`)
    }
  })
