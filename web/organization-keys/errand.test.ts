import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationKey } from '@countersign/protocol/organization-keys'
import { askedIn, errandOf } from './errand.ts'

const organizationId = '0198c0de-0000-7000-8000-00000000000a'
const identityId = '0198c0de-0000-7000-8000-00000000000b'
const encrypted = { encryptionMode: 'e2ee' as const, scopes: ['read' as const, 'manage_keys' as const] }

const key = (changed: Partial<OrganizationKey> = {}): OrganizationKey => ({
  keyId: organizationId,
  version: 1,
  keyCustody: 'identity_grants',
  fingerprint: 'A'.repeat(43),
  createdAt: '2030-01-01T12:00:00.000Z',
  rotationDueSince: null,
  endedAt: null,
  held: true,
  membersWithout: 0,
  ...changed,
})

test('a link says of which organization, as whom, and whether anew; any other says nothing', () => {
  const search = `?organization=${organizationId}&identity=${identityId}`
  assert.deepEqual(askedIn(search), { organizationId, identityId, renews: false })
  assert.equal(askedIn(`${search}&renew`)?.renews, true)
  for (const other of ['', `?organization=${organizationId}`, `?organization=../x&identity=${identityId}`])
    assert.equal(askedIn(other), undefined)
})

test('a key is made where members share none yet, or a new one is wanted, and else shared with who lacks it', () => {
  assert.deepEqual(errandOf({ renews: false }, encrypted, []), { what: 'make', replaces: undefined })
  const kept = key({ keyCustody: 'svc_standard' })
  assert.deepEqual(errandOf({ renews: false }, encrypted, [kept]), { what: 'make', replaces: kept.keyId })
  assert.deepEqual(errandOf({ renews: true }, encrypted, [key()]), { what: 'make', replaces: key().keyId })
  const lacking = key({ membersWithout: 2 })
  assert.deepEqual(errandOf({ renews: false }, encrypted, [lacking]), { what: 'share', keys: [lacking] })
})

test('there is nothing to do where nobody lacks a key, who is here has none, or keys are not theirs to share', () => {
  assert.equal(errandOf({ renews: false }, encrypted, [key()]), undefined)
  assert.equal(errandOf({ renews: false }, encrypted, [key({ held: false, membersWithout: 2 })]), undefined)
  assert.equal(errandOf({ renews: true }, { ...encrypted, encryptionMode: 'standard' }, []), undefined)
  assert.equal(errandOf({ renews: true }, { ...encrypted, scopes: ['read'] }, []), undefined)
})
