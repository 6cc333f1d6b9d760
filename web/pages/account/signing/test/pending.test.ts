import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import { latestOf, type Pending } from '../pending.ts'

const request: Pending['requests'][number] = {
  requestId: '00000000-0000-4000-8000-000000000001',
  identityId: asId<IdentityId>('00000000-0000-4000-8000-000000000002'),
  handle: 'ada',
  app: { clientId: 'app_shop', name: 'Shop' },
  title: 'Pay 10 €',
  connected: true,
  expiresAt: '2030-01-01T12:05:00.000Z',
}
const pendingOf = (shown: number, count: number): Pending => ({
  ...{ count, identities: [], requests: Array.from({ length: shown }, () => request) },
  ...(shown < count && { nextCursor: 'the next page' }),
})

test('SIG-56 what was asked for before more was shown does not take that away again', () => {
  const held = pendingOf(40, 60)
  assert.equal(latestOf(held, pendingOf(20, 61)), held)
  for (const read of [pendingOf(40, 61), pendingOf(12, 12), pendingOf(0, 0)]) assert.equal(latestOf(held, read), read)
})
