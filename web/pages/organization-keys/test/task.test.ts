import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import { parseKeyTaskQuery, keyTaskOf } from '../task.ts'

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

const task = (query: { renews: boolean }, organization: Parameters<typeof keyTaskOf>[1], keys: OrganizationKey[]) =>
  keyTaskOf(query, organization, { keys, isPrepared: true })

test('a link says of which organization, as whom, and whether anew; any other says nothing', () => {
  const search = `?organization=${organizationId}&identity=${identityId}`
  assert.deepEqual(parseKeyTaskQuery(search), { organizationId, identityId, renews: false })
  assert.equal(parseKeyTaskQuery(`${search}&renew`)?.renews, true)
  for (const other of ['', `?organization=${organizationId}`, `?organization=../x&identity=${identityId}`])
    assert.equal(parseKeyTaskQuery(other), undefined)
})

test('a key is made where members share none yet, or a new one is wanted, and else shared with who lacks it', () => {
  assert.deepEqual(task({ renews: false }, encrypted, []), { what: 'make', replaces: undefined })
  const kept = key({ keyCustody: 'svc_standard' })
  assert.deepEqual(task({ renews: false }, encrypted, [kept]), { what: 'make', replaces: kept.keyId })
  assert.deepEqual(task({ renews: true }, encrypted, [key()]), { what: 'make', replaces: key().keyId })
  const lacking = key({ membersWithout: 2 })
  assert.deepEqual(task({ renews: false }, encrypted, [lacking]), { what: 'share', keys: [lacking] })
})

test('there is nothing to do where nobody lacks a key, who is here has none, or keys are not theirs to share', () => {
  assert.equal(task({ renews: false }, encrypted, [key()]), undefined)
  assert.equal(task({ renews: false }, encrypted, [key({ held: false, membersWithout: 2 })]), undefined)
  assert.equal(task({ renews: true }, { ...encrypted, encryptionMode: 'standard' }, []), undefined)
  assert.equal(task({ renews: true }, { ...encrypted, scopes: ['read'] }, []), undefined)
})

test('who has no encryption key makes it, alone or with the first key of the organization', () => {
  const taskUnprepared = (organization: Parameters<typeof keyTaskOf>[1], keys: OrganizationKey[]) =>
    keyTaskOf({ renews: false }, organization, { keys, isPrepared: false })?.what
  const theirs = key({ held: false, membersWithout: 1 })
  assert.equal(taskUnprepared({ encryptionMode: 'standard', scopes: ['read'] }, []), 'prepare')
  assert.equal(taskUnprepared({ ...encrypted, scopes: ['read'] }, [theirs]), 'prepare')
  assert.equal(taskUnprepared(encrypted, [theirs]), 'prepare')
  assert.equal(taskUnprepared(encrypted, []), 'make')
})
