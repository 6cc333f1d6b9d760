import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import { type ClientId, type IdentityId, asId } from '@countersign/protocol/ids'
import { delegationOf } from '../../../signin/consent/test/connector-samples.ts'
import { delegationIn, delegationsRevokedWith } from '../delegation-list.ts'

const authorization: Authorization = {
  id: 'a',
  clientId: asId<ClientId>('app_calendar'),
  appName: 'Calendar',
  appIconUrl: null,
  appWebsiteUrl: null,
  identityId: asId<IdentityId>('id-of-ada'),
  organizationAccess: 'create',
  scope: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastAuthorizedAt: '2026-01-01T00:00:00.000Z',
  encryptionMode: null,
  encryptedAppKey: null,
  appPublicKey: null,
  encryptedAppPrivateKey: null,
}

test('with an app ends what it may do at others as that name, and what others may do at it', () => {
  const asSource = delegationOf({
    sourceAppClientId: asId<ClientId>('app_calendar'),
    targetAppClientId: asId<ClientId>('app_mail'),
  })
  const asTarget = delegationOf()
  const untouched = [
    delegationOf({ targetAppClientId: asId<ClientId>('app_mail') }),
    delegationOf({ identityId: asId<IdentityId>('id-of-countess') }),
    delegationOf({ status: 'revoked' }),
  ]
  assert.deepEqual(delegationsRevokedWith(authorization, [asSource, ...untouched, asTarget]), [asSource, asTarget])
})

test('an entry of the trail leads to its delegation, by its id or by what it is between', () => {
  const ended = delegationOf({ id: 'delegation-0', status: 'revoked' })
  const active = delegationOf()
  const entry = {
    entryId: 'e',
    at: '2026-01-01T00:00:00.000Z',
    action: 'delegation.used',
    actor: 'app',
    identityId: asId<IdentityId>('id-of-ada'),
    clientId: asId<ClientId>('app_assistant'),
    appName: 'Assistant',
    organizationId: null,
    address: null,
  }
  const known = [active, ended]
  assert.equal(delegationIn({ ...entry, details: { delegationId: 'delegation-0' } }, known), ended)
  assert.equal(delegationIn({ ...entry, details: { resourceKey: 'calendar' } }, known), active)
  assert.equal(delegationIn({ ...entry, details: { resourceKey: 'mail' } }, known), undefined)
  assert.equal(delegationIn({ ...entry, action: 'app.authorized', details: {} }, known), undefined)
})
