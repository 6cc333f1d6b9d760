import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import { askedIn, errandOf } from '../task.ts'

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

const errand = (asked: { renews: boolean }, organization: Parameters<typeof errandOf>[1], keys: OrganizationKey[]) =>
  errandOf(asked, organization, { keys, isPrepared: true })

test('a link says of which organization, as whom, and whether anew; any other says nothing', () => {
  const search = `?organization=${organizationId}&identity=${identityId}`
  assert.deepEqual(askedIn(search), { organizationId, identityId, renews: false })
  assert.equal(askedIn(`${search}&renew`)?.renews, true)
  for (const other of ['', `?organization=${organizationId}`, `?organization=../x&identity=${identityId}`])
    assert.equal(askedIn(other), undefined)
})

test('a key is made where members share none yet, or a new one is wanted, and else shared with who lacks it', () => {
  assert.deepEqual(errand({ renews: false }, encrypted, []), { what: 'make', replaces: undefined })
  const kept = key({ keyCustody: 'svc_standard' })
  assert.deepEqual(errand({ renews: false }, encrypted, [kept]), { what: 'make', replaces: kept.keyId })
  assert.deepEqual(errand({ renews: true }, encrypted, [key()]), { what: 'make', replaces: key().keyId })
  const lacking = key({ membersWithout: 2 })
  assert.deepEqual(errand({ renews: false }, encrypted, [lacking]), { what: 'share', keys: [lacking] })
})

test('there is nothing to do where nobody lacks a key, who is here has none, or keys are not theirs to share', () => {
  assert.equal(errand({ renews: false }, encrypted, [key()]), undefined)
  assert.equal(errand({ renews: false }, encrypted, [key({ held: false, membersWithout: 2 })]), undefined)
  assert.equal(errand({ renews: true }, { ...encrypted, encryptionMode: 'standard' }, []), undefined)
  assert.equal(errand({ renews: true }, { ...encrypted, scopes: ['read'] }, []), undefined)
})

test('who has no encryption key makes it, alone or with the first key of the organization', () => {
  const errandUnprepared = (organization: Parameters<typeof errandOf>[1], keys: OrganizationKey[]) =>
    errandOf({ renews: false }, organization, { keys, isPrepared: false })?.what
  const theirs = key({ held: false, membersWithout: 1 })
  assert.equal(errandUnprepared({ encryptionMode: 'standard', scopes: ['read'] }, []), 'prepare')
  assert.equal(errandUnprepared({ ...encrypted, scopes: ['read'] }, [theirs]), 'prepare')
  assert.equal(errandUnprepared(encrypted, [theirs]), 'prepare')
  assert.equal(errandUnprepared(encrypted, []), 'make')
})
