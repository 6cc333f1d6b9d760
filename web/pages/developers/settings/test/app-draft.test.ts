import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { parseUrlList } from '../../../../lib/urls.ts'
import { changeOf, draftOf, faultsOf } from '../app-draft.ts'

const app: App = {
  clientId: asId<ClientId>('app_0123'),
  name: 'Ledger',
  description: null,
  iconUrl: null,
  color: null,
  websiteUrl: null,
  privacyUrl: null,
  termsUrl: null,
  supportsE2ee: false,
  appKeyRecipientJwk: null,
  allowedScopes: ['openid', 'profile'],
  version: 'EjRWeJq83vASNFZ4mrze8A',
  redirectUris: ['https://ledger.example/callback', 'http://localhost:3000/callback'],
  postLogoutRedirectUris: [],
  public: false,
  status: 'active',
  ownerIdentityId: null,
  idTokenSignedResponseAlg: 'RS256',
  accessTokenTtlSeconds: 3600,
  refreshTokenTtlSeconds: 3600,
  requireAuthTime: false,
  idTokenClaims: true,
  requiredClaims: [],
  organizationAccess: 'create',
  backchannelLogoutUri: null,
  backchannelLogoutSessionRequired: false,
  allowAnyLoopbackPort: false,
  access: { mode: 'everyone', groups: [], organizations: [], contact: null },
  groupsClaim: { include: 'assigned' },
  metadataFetchedAt: null,
  createdAt: '2030-01-01T12:00:00.000Z',
  updatedAt: '2030-01-01T12:00:00.000Z',
}

const long = 'a'.repeat(2000)

test('what nobody has touched changes nothing', () => assert.deepEqual(changeOf(app, draftOf(app)), {}))

test('only what was touched is sent', () => {
  const draft = { ...draftOf(app), name: 'Cash book', redirectUris: 'https://ledger.example/callback\n' }
  assert.deepEqual(changeOf(app, draft), { name: 'Cash book', redirectUris: ['https://ledger.example/callback'] })
  assert.deepEqual(changeOf(app, { ...draftOf(app), allowedScopes: [] }), { allowedScopes: [] })
})

test('addresses are told apart by whatever is between them, and each counts once', () => {
  assert.deepEqual(parseUrlList(' https://a.example/ \r\n\n https://b.example/\thttps://a.example/ '), [
    'https://a.example/',
    'https://b.example/',
  ])
})

test('what cannot be right is said before it is sent', () => {
  const faults = (change: object) => [
    ...faultsOf({ ...draftOf(app), ...change }, { isPublic: false, ours: ['https://id.example'] }),
  ]
  assert.deepEqual(faults({}), [])
  assert.deepEqual(faults({ name: ' ', redirectUris: ' \n ' }), ['name', 'redirectUris'])
  assert.deepEqual(faults({ redirectUris: 'https://a.example/ ledger' }), ['redirectUris'])
  assert.deepEqual(faults({ postLogoutRedirectUris: 'somewhere' }), ['postLogoutRedirectUris'])
  assert.deepEqual(faults({ redirectUris: 'http://a.example/' }), ['redirectUris'])
  assert.deepEqual(faults({ postLogoutRedirectUris: 'https://id.example/' }), ['postLogoutRedirectUris'])
  assert.deepEqual(faults({ description: 'a'.repeat(501) }), ['description'])
  const wrong = [
    'somewhere',
    'http://a.example',
    'https://u:p@a.example',
    'https://ä.example',
    `https://a.example/${long}`,
  ]
  for (const url of wrong)
    for (const field of ['websiteUrl', 'privacyUrl', 'termsUrl', 'backchannelLogoutUri'])
      assert.deepEqual(faults({ [field]: url }), [field], url)
  assert.deepEqual(
    faults({ websiteUrl: ' ', termsUrl: ' https://a.example/#terms ', privacyUrl: 'http://localhost' }),
    [],
  )
  assert.deepEqual(faults({ backchannelLogoutUri: 'https://a.example/#x' }), ['backchannelLogoutUri'])
})
