import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../server/testing/service.ts'
import { registerApp } from './load/test-user.ts'
import { rounds } from './load/throughput.ts'
import { registerSigner, type Signer } from './load/signer.ts'

const signersAtOnce = 6

test(`SIG-28 KEY-09 after kill -9 (${rounds} times) signatures are kept, and key pairs are complete`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const app = await registerApp(service)
  const everybody: Signer[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const signers = await Promise.all(Array.from({ length: signersAtOnce }, () => registerSigner(service, app)))
    everybody.push(...signers)
    const stopped = new AbortController()
    const turns = Promise.all(
      signers.map(async (signer) => {
        while (!stopped.signal.aborted) await takeTurn(signer)
      }),
    )
    await wait(300 + Math.random() * 1200)
    service.process.kill('SIGKILL')
    stopped.abort()
    await turns
    await service.end('SIGKILL')

    await service.restart()
    for (const { isKeyWhole, findLostUpdates, history } of everybody) {
      assert.ok(await isKeyWhole(), `round ${round}\n${history.join('\n')}`)
      assert.deepEqual(await findLostUpdates(), [], `round ${round}\n${history.join('\n')}`)
    }
    // Each continues with its key.
    for (const signer of signers) {
      const request = await signer.ask('After all')
      assert.ok(request, signer.history.join('\n'))
      assert.equal((await signer.sign(request))?.status, 200)
    }
  }
  const all = everybody.flatMap(({ requests }) => requests)
  const count = (outcome: string) => all.filter((request) => request.outcome === outcome).length
  t.diagnostic(
    `${all.length} requests: ${count('signed')} signed, ${count('denied')} denied, ${count('unknown')} unknown`,
  )
})

/** Creates a signing request; the user answers it, sometimes after the key was replaced, or not at all. */
async function takeTurn(signer: Signer): Promise<void> {
  const request = await signer.ask(`Pay ${signer.requests.length} €`)
  const chance = Math.random()
  if (chance < 0.3 || !request) await signer.rotate()
  if (!request) return
  if (chance < 0.4) return void (await signer.deny(request))
  await Promise.all([signer.sign(request), ...(chance < 0.6 ? [signer.deny(request)] : [])])
}

const answersAtOnce = 16
const contests = rounds * 50

test(`SIG-08 of ${answersAtOnce} concurrent answers to each of ${contests} requests exactly one counts`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const signer = await registerSigner(service, await registerApp(service))
  const ended = { signed: 0, denied: 0 }
  for (let contest = 0; contest < contests; contest += 1) {
    const request = await signer.ask(`Pay ${contest} €`)
    assert.ok(request)
    const replies = await Promise.all(
      Array.from({ length: answersAtOnce }, (_, index) =>
        (index + contest) % 2 ? signer.sign(request) : signer.deny(request),
      ),
    )
    const [won, ...others] = replies.toSorted((a, b) => (a?.status ?? 0) - (b?.status ?? 0))
    assert.equal(won?.status, 200)
    for (const other of others) assert.deepEqual([other?.status, other?.body['status']], [409, won.body['status']])
    assert.ok(request.outcome === 'signed' || request.outcome === 'denied')
    assert.equal(won.body['status'], request.outcome)
    ended[request.outcome] += 1
  }
  assert.deepEqual(await signer.findLostUpdates(), [])
  t.diagnostic(`${ended.signed} signed, ${ended.denied} denied`)
})
