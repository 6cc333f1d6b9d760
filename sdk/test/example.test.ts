import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRemoteSigner, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import { newSigningPair } from '../../server/testing/signer.ts'
import { createCountersign, type Countersign } from '../src/server/server.ts'

/** The example is plain JavaScript, as app developers would write it. */
const fileOf = (name: string) => new URL(`../../examples/payment-approval/${name}`, import.meta.url).href
const { beginApproval } = await import(fileOf('approval.js'))
const { createPayments, textOf } = await import(fileOf('payments.js'))

let service: Served
let countersign: Countersign
before(async () => {
  service = await serveHere()
  countersign = createCountersign(await registerRemoteApp(service))
})
after(() => service.close())

const payments = createPayments()
const first = payments.find('2026-0114')
const second = payments.find('2026-0115')

test('the example pays after the user has signed, and creates one request for each payment', async () => {
  const ada = await createRemoteSigner(service)
  const started = await Promise.allSettled(
    [1, 2].map(() => beginApproval(countersign, payments, first, ada.identityId)),
  )
  assert.deepEqual(started.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  const address = await beginApproval(countersign, payments, first, ada.identityId)
  const requestId = new URL(address).searchParams.get('requestId') ?? ''
  assert.equal(first.state, 'asked')

  await ada.sign(requestId, textOf(first))
  await first.settled
  assert.deepEqual([first.state, second.state], ['paid', 'open'])
  assert.equal(first.evidence.payload, textOf(first))
  assert.throws(() => payments.pay(first, first.evidence), /does not wait for a signature/)
  await assert.rejects(beginApproval(countersign, payments, first, ada.identityId), /not open/)
})

test('a denied, expired or failed request stays unpaid, with the reason', async () => {
  const { identityId, ...ada } = await createRemoteSigner(service)
  const begin = async () => {
    await beginApproval(countersign, payments, second, identityId)
    return second.request.requestId
  }
  await ada.deny(await begin())
  await second.settled
  assert.deepEqual([second.state, second.reason], ['open', 'You denied it.'])

  await begin()
  await ada.rotate()
  await second.settled
  assert.deepEqual([second.state, second.reason], ['open', 'It was not signed in time.'])

  const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'
  await assert.rejects(beginApproval(countersign, payments, second, unknown), { code: 'identity_not_found' })
  assert.equal(second.state, 'open')
})

test('only a signature over the exact payment by the named key pays it', () => {
  const [pair, other] = [newSigningPair(), newSigningPair()]
  const payload = textOf(second)
  const pay = (claim: object) => () => payments.pay(second, { payload, signature: pair.sign(payload), ...claim })
  assert.throws(pay({}), /does not wait for a signature/)
  payments.ask(second, { publicKey: pair.publicKey })
  const foreign = textOf(first)
  assert.throws(pay({ payload: foreign, signature: pair.sign(foreign) }), /not this payment/)
  assert.throws(pay({ signature: pair.sign(foreign) }), /Invalid signature/)
  assert.throws(pay({ signature: other.sign(payload), publicKey: other.publicKey }), /Invalid signature/)
  assert.equal(second.state, 'asked')
  pay({})()
  assert.equal(second.state, 'paid')
})
