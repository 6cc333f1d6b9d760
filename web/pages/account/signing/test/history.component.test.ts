import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import { withNewest, withNext, type HistoryPage } from '../History.tsx'

const request: HistoryPage['requests'][number] = {
  requestId: '',
  identityId: asId<IdentityId>(''),
  handle: 'ada',
  app: { clientId: 'app_1', name: 'Shop', iconUrl: null, websiteUrl: null, origins: [] },
  connected: true,
  demonstration: false,
  payload: 'Pay 10 €',
  status: 'denied',
  publicKey: '',
  createdAt: '2030-01-01T12:00:00.000Z',
  expiresAt: '2030-01-01T12:05:00.000Z',
  resolvedAt: '2030-01-01T12:01:00.000Z',
}
const trail = (ids: string, nextCursor: string | null): HistoryPage => ({
  requests: [...ids].map((requestId) => ({ ...request, requestId })),
  nextCursor,
})

test('what is new comes first, and what was read already stays', () => {
  assert.deepEqual(withNewest(undefined, trail('ba', null)), trail('ba', null))
  const held = withNext(trail('fe', 'e'), trail('dc', 'c'))
  assert.deepEqual(held, trail('fedc', 'c'))
  assert.deepEqual(withNewest(held, trail('fe', 'e')), held)
  assert.deepEqual(withNewest(held, trail('gf', 'f')), trail('gfedc', 'c'))
  assert.deepEqual(withNewest(trail('', null), trail('a', null)), trail('a', null))
})

test('where more is new than a page holds, nothing between is passed over', () => {
  assert.deepEqual(withNewest(trail('ba', null), trail('fe', 'e')), trail('fe', 'e'))
})
