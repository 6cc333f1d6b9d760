import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { asId, type ClientId, type IdentityId, type OrganizationId, type UserId } from '@countersign/protocol/ids'
import { type AccountData, withIdentities } from '../account-data.ts'

const at = '2030-01-01T00:00:00.000Z'
const uuid = (last: number) => `01900000-0000-7000-8000-00000000000${last}`
const identityOf = (handle: string, last: number): Identity => ({
  identityId: asId<IdentityId>(uuid(last)),
  handle,
  displayName: handle,
  ...{ avatarUrl: null, email: null, emailVerified: false, createdAt: at },
})
const ada = identityOf('ada', 1)
const countess = identityOf('countess', 2)

const authorizationOf = ({ identityId }: Identity): AccountData['authorizations'][number] => ({
  ...{ id: uuid(3), clientId: asId<ClientId>('app_shop'), appName: 'Shop', appIconUrl: null, appWebsiteUrl: null },
  ...{ identityId, scope: 'openid', organizationAccess: null, createdAt: at, lastAuthorizedAt: at },
  ...{ encryptionMode: null, encryptedAppKey: null, appPublicKey: null, encryptedAppPrivateKey: null },
})
const delegationOf = ({ identityId }: Identity): AccountData['delegations'][number] => ({
  ...{ id: uuid(4), identityId, sourceAppClientId: asId<ClientId>('app_shop'), sourceAppName: 'Shop' },
  ...{ sourceAppIconUrl: null, sourceAppWebsiteUrl: null, targetResourceKey: 'mail', targetResourceName: 'Mail' },
  ...{ targetAudience: 'https://mail.example', targetAppClientId: asId<ClientId>('app_mail'), targetAppName: 'Mail' },
  ...{ scope: 'read', scopeDescriptions: {}, communicationMode: 'background', status: 'active' },
  ...{ createdAt: at, updatedAt: at, revokedAt: null, lastUsedAt: null },
})
const signingKeyOf = ({ identityId, handle }: Identity): AccountData['signingKeys'][number] => ({
  ...{ identityId, handle, hasKey: true, publicKey: 'AA==', encryptedPrivateKey: 'sealed' },
  ...{ createdAt: at, rotatedAt: null, keyVersion: 1, former: [] },
})
const recoveryOf = ({ identityId }: Identity): AccountData['recoveries'][number] => ({
  ...{ recoveryLinkId: uuid(5), identityId, state: 'issued', issuedAt: at, expiresAt: at },
  ...{ completesAt: null, holdUntil: null },
})
const invitationOf = (...invited: Identity[]): AccountData['invitations'][number] => ({
  ...{ organizationId: asId<OrganizationId>(uuid(6)), invitationId: uuid(7) },
  organization: { name: 'Engines', slug: 'engines', logoUrl: null },
  invitedBy: { handle: 'bob', displayName: 'Bob', avatarUrl: null },
  ...{ role: 'signer', email: null, createdAt: at, expiresAt: at, canJoin: true },
  identityIds: invited.map(({ identityId }) => identityId),
})

const data: AccountData = {
  session: {
    user: { userId: asId<UserId>(uuid(8)) },
    identities: [ada, countess],
    ...{ authTime: at, secondsSinceAuthTime: 0, authMethod: 'passkey', expiresAt: at },
  },
  ...{ passkeys: [], sessions: [], recoverySince: at, codeOpensKeys: true, recoveredAt: null },
  authorizations: [authorizationOf(ada), authorizationOf(countess)],
  delegations: [delegationOf(ada), delegationOf(countess)],
  signingKeys: [signingKeyOf(ada), signingKeyOf(countess)],
  pending: { count: 0, identities: [], requests: [] },
  devices: [],
  recoveries: [recoveryOf(ada), recoveryOf(countess)],
  invitations: [invitationOf(ada, countess), invitationOf(countess)],
}

test('after the deletion of an identity, no section shows anything of it', () => {
  assert.deepEqual(withIdentities(data, [ada]), {
    ...data,
    session: { ...data.session, identities: [ada] },
    authorizations: [authorizationOf(ada)],
    delegations: [delegationOf(ada)],
    signingKeys: [signingKeyOf(ada)],
    recoveries: [recoveryOf(ada)],
    invitations: [invitationOf(ada)],
  })
})

test('a change of names keeps what belongs to the identity', () => {
  const renamed = { ...countess, displayName: 'The Countess' }
  assert.deepEqual(withIdentities(data, [ada, renamed]), {
    ...data,
    session: { ...data.session, identities: [ada, renamed] },
  })
})
