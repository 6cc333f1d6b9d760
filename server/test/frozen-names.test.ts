/**
 * Lists the names of the published interface: clients depend on them, so none may change. Whatever the code calls a
 * thing, these names stay.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let document: { paths: Record<string, Record<string, unknown>> }
before(async () => {
  world = await createWorld()
  document = (await world.api.inject({ url: '/openapi.json' })).json()
})
after(() => world.close())

const words = (text: string) => text.trim().split(/\s+/)

const operations = `
  POST /api/signing/request · GET /api/signing/request/{requestId}/status · GET /api/signing/public-key/{handle}
  · POST /api/signing/verify · GET /api/signing/keys · GET /api/signing/keys/{identityId}
  · POST /api/signing/keys/{identityId} · PUT /api/signing/keys/{identityId} · GET /api/signing/requests
  · GET /api/signing/requests/{requestId} · POST /api/signing/requests/{requestId}/sign
  · POST /api/signing/requests/{requestId}/deny · POST /api/signing/demo/request · GET /api/oauth/app/{clientId}
  · GET /api/oauth/resource/{resourceKey} · POST /api/oauth/authorize · POST /api/oauth/token
  · GET /api/oauth/fedcm/config · GET /api/oauth/fedcm/accounts · POST /api/oauth/fedcm/assertion
  · POST /api/oauth/fedcm/finalize · POST /api/oauth/fedcm/exchange · GET /api/oauth/userinfo
  · GET /api/oauth/organizations · POST /api/oauth/workspaces · GET /.well-known/openid-configuration
  · GET /.well-known/jwks.json · GET /.well-known/webfinger · GET /api/oauth/delegations
  · DELETE /api/oauth/delegations/{delegationId} · GET /api/encryption/app-lookup · POST /api/auth/register/start
  · POST /api/auth/register/finish · POST /api/auth/login/start · POST /api/auth/login/finish
  · GET /api/auth/session · GET /api/account/key-wraps`

const fields = `
  handle displayName avatarUrl identityId userId emailVerified clientId clientSecret redirectUri codeChallenge
  encryptedAppKey appPublicKey encryptedAppPrivateKey connector requestedResource requestedScope communicationMode
  user_present background requestId payload metadata expiresInSeconds resolvedAt publicKey encryptedPrivateKey
  rotationSignature hasKey keyVersion pending signed denied expired role scopes signingAuthority ssoRequired
  encryptionMode keyCustody authMethod ssoConnectionId e2eeKeyDelivery svc_standard customer_kms identity_grants
  userConfirmedServiceWorkspaceCreation flowId options credential keyWraps recoveryAuth sessionToken authTime
  passkey_prf recovery_code device signedAction signature grant_id target_resource communication_mode
  expires_in token_type access_token refresh_token id_token`

const errorCodes = `
  invalid_request invalid_client identity_not_found no_signing_key already_revoked last_owner last_passkey
  too_many_pending app_key_required key_in_use key_used_before key_changed workspace_creation_failed`

/** Labels of key derivation, types of events and messages, cookies. */
const literals = `
  countersign/prf/v1 countersign/master-key/v1 countersign/organization-key/fingerprint/v1 signing.signed
  signing.denied signing.expired countersign:signed countersign:denied __Host-countersign-fedcm`

/** Of the fragment and the query. */
const parameters = `
  app_key app_public_key app_key_old app_key_reset app_key_jwe app_key_jwk fedcm_continue com_mode`

const pagePaths = '/ /signin /connect /recover /register /login /logout /account /developers /playground'

const actions = `
  create-account sign-in choose-identity approve deny sign unlock confirm-recovery-saved revoke sign-out`

const inputs = 'handle displayName recoveryCode'

test('the operations of the interface keep their methods and paths', () => {
  for (const operation of operations.split('·').map((text) => text.trim())) {
    const [method = '', path = ''] = operation.split(' ')
    assert.ok(document.paths[path]?.[method.toLowerCase()], operation)
  }
})

test('the fields and values of the interface keep their names', () => {
  const text = JSON.stringify(document)
  for (const name of words(fields)) assert.match(text, new RegExp(`"${name}"`), name)
})

/** The sources of the product: what no endpoint describes is found there. */
function sourcesOf(folders: string, extension = 'ts'): string {
  const root = join(import.meta.dirname, '../..')
  const exclude = ['**/test/**', '**/testing/**', '**/node_modules/**', '**/dist/**', '**/corpus/**']
  const paths = globSync(`${folders}/**/*.${extension}`, { cwd: root, exclude })
  return paths.map((path) => readFileSync(join(root, path), 'utf8')).join('\n')
}

test('the error codes of the interface keep their names', () => {
  const declared = sourcesOf('server')
  for (const code of words(errorCodes)) assert.match(declared, new RegExp(String.raw`\b${code}: \[\s*4\d\d,`), code)
})

test('what is inside ciphertexts, keys and messages between windows keeps its bytes', () => {
  assert.equal(ciphertextContext.masterKey('u'), 'master-key:u')
  assert.equal(ciphertextContext.signingKey('i'), 'signing-key:i')
  assert.equal(ciphertextContext.appKey('i', 'c'), 'app-key/2:i:c')
  const key = { organizationId: 'o', fingerprint: 'f', identityId: 'i' }
  assert.equal(ciphertextContext.organizationKey(key), 'organization-key:o:f:i')
  const sources = sourcesOf('{keys,protocol,server,web,sdk}')
  for (const text of words(literals)) assert.ok(sources.includes(`'${text}'`), text)
  const names = new RegExp(String.raw`[^\w](?:${words(parameters).join('|')})[^\w]`, 'g')
  const found = new Set([...sources.matchAll(names)].map(([name]) => name.slice(1, -1)))
  assert.deepEqual([...found].toSorted(), words(parameters).toSorted())
})

test('the pages keep their paths', async () => {
  for (const path of words(pagePaths)) {
    const { statusCode } = await world.auth.inject({ url: path })
    assert.notEqual(statusCode, 404, path)
    assert.ok(statusCode < 500, path)
  }
  assert.ok(world.auth.routes.has('GET', '/sign'))
})

test('the pages keep their hooks for automation', () => {
  const text = sourcesOf('web/{components,pages}', '{ts,tsx}')
  for (const action of words(actions)) assert.ok(text.includes(`'${action}'`) || text.includes(`"${action}"`), action)
  for (const name of words(inputs)) assert.ok(text.includes(`'${name}'`) || text.includes(`"${name}"`), name)
})

test('tokens, codes and client ids keep their prefixes, and responses their version header', async () => {
  const user = await world.person()
  const app = await world.app()
  const issued = await app.tokens(user)
  assert.match(app.clientId, /^app_/)
  assert.match(user.sessionToken, /^cs_session_/)
  assert.match(await app.code(user), /^cs_code_/)
  assert.match(issued.access_token, /^cs_at_/)
  const { headers } = await world.api.inject({ url: '/healthz' })
  assert.ok(headers['countersign-version'])
})
