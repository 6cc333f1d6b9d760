import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { verifySignature } from '../sdk/src/server/signature.ts'
import { foundRemoteOrganization, type RemoteSigner } from '../server/testing/remote-organization.ts'
import { startService, type Service } from '../server/testing/service.ts'
import { registerApp, type TestApp } from './load/test-user.ts'
import { exchange, textOf } from './load/exchange.ts'
import { rounds } from './load/throughput.ts'

const approvalsNeeded = 2
/** A different text for each app: a signature for one is rejected for another. */
const payloadFor = ({ client_id: clientId }: TestApp) => `Pay 24,000 € for ${clientId}`

/** A request, and its acknowledged outcome: none if no response reported one. */
type Request = { requestId: string; clientId: string; payload: string; outcome?: 'signed' | 'denied' }

test(`OSG-01 OSG-02 after kill -9 (${rounds} times) an organization signs with enough approvals only`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const members = await foundRemoteOrganization(service, { approvalsNeeded, others: 4 })
  const requests: Request[] = []
  for (let round = 1; round <= rounds; round += 1) {
    // Requests that are pending at the kill stay pending, and an app may have three.
    const app = await registerApp(service)
    const stopped = new AbortController()
    const turns = (async () => {
      while (!stopped.signal.aborted) {
        const request = await open(service, app, members.id)
        if (!request) continue
        requests.push(request)
        await answerAtOnce(service, members, request)
      }
    })()
    await wait(500 + Math.random() * 1500)
    service.process.kill('SIGKILL')
    stopped.abort()
    await turns
    await service.end('SIGKILL')

    await service.restart()
    for (const request of requests) assert.equal(await flawOf(service, request), undefined, `round ${round}`)
    const last = await open(service, app, members.id)
    assert.ok(last)
    await answer(service, members.owner, last, 'sign')
    for (const other of members.others.slice(0, approvalsNeeded)) await answer(service, other, last, 'approve')
    assert.equal(last.outcome, 'signed')
  }
  const count = (end?: string) => requests.filter(({ outcome }) => outcome === end).length
  t.diagnostic(`${requests.length} requests: ${count('signed')} signed, ${count('denied')} denied, ${count()} unknown`)
})

async function open({ baseUrl }: Service, app: TestApp, organizationId: string): Promise<Request | undefined> {
  const { client_id: clientId, client_secret: clientSecret } = app
  const payload = payloadFor(app)
  const json = { clientId, clientSecret, organizationId, payload }
  const reply = await exchange(`${baseUrl}/api/signing/request`, { method: 'POST', json })
  if (reply?.status !== 201) return undefined
  return { requestId: textOf(reply.body, 'requestId'), clientId, payload }
}

/** Makes all members answer concurrently; sometimes one of them denies. */
async function answerAtOnce(
  service: Service,
  { owner, others }: { owner: RemoteSigner; others: RemoteSigner[] },
  request: Request,
): Promise<void> {
  const denies = Math.random() < 0.3
  await Promise.all([
    answer(service, owner, request, 'sign'),
    ...others.map((other, index) => answer(service, other, request, denies && index === 0 ? 'deny' : 'approve')),
  ])
}

async function answer(
  { baseUrl }: Service,
  { headers, pair }: RemoteSigner,
  request: Request,
  act: 'sign' | 'approve' | 'deny',
): Promise<void> {
  const json = act === 'deny' ? {} : { signature: pair.sign(request.payload) }
  const url = `${baseUrl}/api/signing/requests/${request.requestId}/${act}`
  const reply = await exchange(url, { method: 'POST', headers, json })
  if (reply?.status === 500) throw new Error(`500 for ${act}: ${JSON.stringify(reply.body)}`)
  const status = reply?.body['status']
  if (reply?.status === 200 && (status === 'signed' || status === 'denied')) request.outcome = status
}

/** Returns the errors in the state of a request that the service now reports. */
async function flawOf(
  { baseUrl }: Service,
  { requestId, clientId, payload, outcome }: Request,
): Promise<string | undefined> {
  const reply = await exchange(`${baseUrl}/api/signing/request/${requestId}/status?clientId=${clientId}`)
  const { status, signatures = [] } = reply?.body ?? {}
  if (outcome !== undefined && status !== outcome) return `one that was ${outcome} is ${String(status)}`
  assert.ok(Array.isArray(signatures))
  if (status !== 'signed') return signatures.length > 0 ? `one that is ${String(status)} has signatures` : undefined
  const signers = new Set(signatures.map(({ identityId }) => identityId)).size
  const approvals = signatures.filter(({ role }) => role === 'approve').length
  if (approvals < approvalsNeeded || signers !== signatures.length || signers === approvals)
    return `one is signed by ${signers} with ${approvals} approvals`
  const areSound = signatures.every(({ signature, publicKey }) => verifySignature({ payload, signature, publicKey }))
  return areSound ? undefined : 'one is signed with a wrong signature'
}
