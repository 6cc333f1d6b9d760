import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { asId, type ClientId, type IdentityId } from '@countersign/protocol/ids'
import { groupByDay } from '../grouping.ts'
import { lookOf, mayBeForeign } from '../look.ts'

const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString()
const signIn: ActivityEntry = {
  ...{ organizationId: null, address: null },
  entryId: '1',
  at: at(22, 14),
  action: 'app.signed_in',
  actor: 'user',
  identityId: asId<IdentityId>('one'),
  clientId: asId<ClientId>('app'),
  appName: 'Letters & Ledgers',
  details: {},
  device: 'Chrome',
}

test('returns to an app on one day are one line with their number, also between other events', () => {
  const renamed = { ...signIn, at: at(22, 13), action: 'passkey.renamed', clientId: null, appName: null }
  const days = groupByDay([signIn, renamed, { ...signIn, at: at(22, 12) }, { ...signIn, at: at(21, 12) }])
  const shown = days.map(({ groups }) => groups.map(({ entry, count }) => [entry.action, count]))
  assert.deepEqual(shown, [
    [
      ['app.signed_in', 2],
      ['passkey.renamed', 1],
    ],
    [['app.signed_in', 1]],
  ])
})

test('a return on another device, or under another name of the app, is a line of its own', () => {
  const others = [
    { ...signIn, device: 'Firefox' },
    { ...signIn, appName: 'Your Bank' },
  ]
  const [day] = groupByDay([signIn, ...others, { ...signIn, action: 'app.authorized' }])
  assert.deepEqual(
    day?.groups.map(({ count }) => count),
    [1, 1, 1, 1],
  )
})

test('an event has the icon of the longest name that fits, and only some raise doubt', () => {
  assert.equal(lookOf('signing.signed').icon, 'signature')
  assert.equal(lookOf('app.disconnected').icon, 'unplug')
  assert.equal(lookOf('unknown').icon, 'activity')
  assert.ok(mayBeForeign('session.created', false))
  assert.ok(mayBeForeign('passkey.added', false))
  assert.ok(!mayBeForeign('session.created', true))
  assert.ok(!mayBeForeign('app.signed_in', false))
})
