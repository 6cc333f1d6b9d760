import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayPart } from '../day-part.ts'
import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import { formerPasskeys, mayBeRecovered } from '../former-passkeys.ts'
import { latestSignIns } from '../latest-sign-ins.ts'
import { securityTasks } from '../security-tasks.ts'

type Given = Parameters<typeof securityTasks>[0]
type Entry = Parameters<typeof latestSignIns>[0][number]

function accountOf(passkeys: number, recoverySince: string | null, emailVerified: boolean): Given {
  const identity = { handle: 'ada', emailVerified }
  const account = {
    passkeys: Array.from({ length: passkeys }, () => ({})),
    recoverySince,
    session: { identities: [identity] },
  }
  return account as unknown as Given
}

test('users are greeted by the time of their day', () => {
  const at = (hour: number) => dayPart(new Date(2026, 10, 22, hour))
  assert.deepEqual([4, 5, 11, 12, 17, 18, 23].map(at), [
    'evening',
    'morning',
    'morning',
    'afternoon',
    'afternoon',
    'evening',
    'evening',
  ])
})

test('the security check begins with the recovery code, then a second passkey, then an e-mail address', () => {
  const kinds = (given: Given, hasMail = true) => securityTasks(given, { former: [], hasMail }).map(({ kind }) => kind)
  assert.deepEqual(kinds(accountOf(1, null, false)), ['code', 'passkey', 'email'])
  assert.deepEqual(kinds(accountOf(1, '2026-03-04T00:00:00Z', false), false), ['passkey'])
  assert.deepEqual(kinds(accountOf(2, '2026-03-04T00:00:00Z', true)), [])
})

test('recent sign-ins name each app once for a device, and nothing else', () => {
  const entry = (action: string, clientId: string | null, device = 'Chrome') =>
    ({ action, clientId, device }) as unknown as Entry
  const latest = latestSignIns([
    entry('app.signed_in', 'shop'),
    entry('session.reauthenticated', null),
    entry('app.authorized', 'shop'),
    entry('app.signed_in', 'shop', 'Firefox'),
    entry('session.created', null),
  ])
  assert.deepEqual(
    latest.map(({ action, device }) => [action, device]),
    [
      ['app.signed_in', 'Chrome'],
      ['app.signed_in', 'Firefox'],
      ['session.created', 'Chrome'],
    ],
  )
})

test('passkeys from before a recovery are to be reviewed for thirty days, and no later ones', () => {
  const passkey = (createdAt: string): Passkey => ({
    ...{ credentialId: createdAt, name: createdAt, createdAt, lastUsedAt: createdAt },
    ...{ backedUp: false, opensKeys: true, mayResetKeys: false, publicKey: '' },
  })
  const [lost, recovered, added] = ['2026-01-02T00:00:00Z', '2026-11-20T10:00:00Z', '2026-11-21T00:00:00Z'].map(passkey)
  assert.ok(lost && recovered && added)
  const all = [lost, recovered, added]
  const now = new Date('2026-11-22T00:00:00Z')
  assert.deepEqual(formerPasskeys(all, recovered.createdAt, now), [lost])
  assert.deepEqual(formerPasskeys(all, null, now), [])
  assert.deepEqual(formerPasskeys(all, recovered.createdAt, new Date('2026-12-20T10:00:00Z')), [])
  assert.deepEqual([mayBeRecovered(all, now), mayBeRecovered([added], now)], [true, false])
  assert.equal(mayBeRecovered([lost, lost], now), false)
})
