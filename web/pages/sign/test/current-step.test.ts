import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { createCurrentStep } from '../current-step.ts'
import type { Event } from '../steps.ts'

const unsigned = {
  ...{ id: asId<OrganizationId>('id'), name: 'Acme', isSigned: false, approvals: 0, approvalsNeeded: 1 },
  ...{ memberId: 'bob', maySign: true, mayApprove: true, answered: null, answers: [] },
}
const request: SigningRequest = {
  requestId: 'b0c0ffee-0000-4000-8000-000000000001',
  identityId: asId<IdentityId>('019e4a31-00ff-7abc-8def-0123456789ab'),
  handle: 'bob',
  app: { clientId: 'app_1', name: 'Shop', iconUrl: null, websiteUrl: null, origins: ['https://shop.example'] },
  connected: true,
  demonstration: false,
  payload: 'Pay 100 €',
  status: 'pending',
  publicKey: 'key',
  createdAt: '2026-11-21T14:00:00.000Z',
  expiresAt: '2026-11-21T14:05:00.000Z',
  organization: unsigned,
}
const read = (changes: Partial<SigningRequest> = {}): Event => ({
  type: 'request read',
  request: { ...request, ...changes },
})
const signed = read({ organization: { ...unsigned, isSigned: true } })

/** A page that shows a request. */
function openPage() {
  const current = createCurrentStep({ framed: false })
  current.advance(read())
  return current
}

test('OSG-14 what a user has decided on counts as shown, as long as a page shows just that', () => {
  const sameOrders: Event[][] = [
    [],
    [read()],
    [{ type: 'insisted' }],
    [read({ organization: { ...unsigned, approvals: 1 } })],
    [{ type: 'answer accepted' }],
  ]
  for (const events of sameOrders) {
    const current = openPage()
    const isShown = current.watch()
    for (const event of events) current.advance(event)
    assert.equal(isShown(), true, JSON.stringify(events))
  }
})

test('OSG-14 it does not after the page has shown anything else, even if it then shows the same again', () => {
  const others: Event[][] = [
    [signed],
    [read({ publicKey: 'other' })],
    [read({ payload: 'Pay 1000 €' })],
    [read({ handle: 'eve' })],
    [read({ organization: { ...unsigned, answered: 'sign', isSigned: true } })],
    [read({ status: 'denied' })],
    [{ type: 'nobody signed in' }],
    [{ type: 'no such request' }],
    [{ type: 'own sign-in asked', place: { organizationName: 'Acme', loginUrl: 'https://id.example/' } }],
    [{ type: 'stopped', why: 'clock' }],
    [{ type: 'time is up' }],
  ]
  for (const events of [...others, ...others.map((each) => [...each, read()])]) {
    const current = openPage()
    const isShown = current.watch()
    for (const event of events) current.advance(event)
    assert.equal(isShown(), false, JSON.stringify(events))
  }
})

/** Starts a read that ends when `end` is called, and shows the request with these changes if it is used. */
function startRead(current: ReturnType<typeof openPage>, changes: Partial<SigningRequest> = {}) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const reading = current.read(async (isUsed) => {
    await promise
    if (isUsed()) current.advance(read(changes))
  })
  return { reading, end: resolve }
}

/** Returns whether the page shows the app as connected; undefined if it shows no request. */
function isConnected(current: ReturnType<typeof openPage>): boolean | undefined {
  const step = current.get()
  return 'request' in step ? step.request?.connected : undefined
}

test('of several reads the newest is used, in whatever order they end', async () => {
  for (const isInOrder of [true, false]) {
    const current = openPage()
    const [older, newer] = [startRead(current, { connected: false }), startRead(current)]
    for (const each of isInOrder ? [older, newer] : [newer, older]) each.end()
    await older.reading
    assert.equal(isConnected(current), true)
    await newer.reading
    assert.equal(isConnected(current), true)
  }
})

test('OSG-14 a read that an answer overtakes changes nothing, and the next one does', async () => {
  for (const endsDuring of [true, false]) {
    const current = openPage()
    const before = startRead(current, { payload: 'Pay 1000 €' })
    let during: typeof before | undefined
    await current.send(async () => {
      during = startRead(current, { payload: 'Pay 1000 €' })
      if (!endsDuring) return
      for (const each of [before, during]) each.end()
      await Promise.all([before.reading, during.reading])
    })
    for (const each of [before, during]) each?.end()
    await Promise.all([before.reading, during?.reading])
    assert.equal(current.get().at, 'decide')
    const after = startRead(current, { connected: false })
    after.end()
    await after.reading
    assert.equal(isConnected(current), false)
  }
})

test('an answer that fails ends its sending, and reads are used again', async () => {
  const current = openPage()
  const failed = new Error('failed')
  await assert.rejects(
    current.send(() => Promise.reject(failed)),
    failed,
  )
  const next = startRead(current, { connected: false })
  next.end()
  await next.reading
  assert.equal(isConnected(current), false)
})
