import { generateKeyPairSync } from 'node:crypto'
import { usageErrors } from '@countersign/protocol/clients/usage'
import type { ClientId } from '@countersign/protocol/ids'
import { createAuthenticator } from './authenticator.ts'
import { createConnectors, delegationsOf } from './connectors.ts'
import { decideByCouncil } from './council-requests.ts'
import { exchange, newParams, openBrowser } from './federated-browser.ts'
import { useGroups } from './group-requests.ts'
import { createKeyHolder } from './key-holder.ts'
import { codeIn, type Mailbox } from './mailbox.ts'
import { invite, setUp } from './invitation-requests.ts'
import { addServiceWebhook, operate, useServiceWebhook } from './operator-requests.ts'
import { pngOf } from './pictures.ts'
import { reauthenticate } from './organization.ts'
import { organize, shareKeys, signForOrganizations, signInByProvider, signInBySaml } from './organization-requests.ts'
import {
  anything,
  bearer,
  newAddress,
  newHandle,
  nobody,
  openRequestClient,
  place,
  times,
  type RequestClient,
  type Enterprise,
} from './request-client.ts'
import { provision } from './scim-requests.ts'
import { newSigningPair } from './signer.ts'
import { readLog, sign } from './signing-requests.ts'
import { newChallenge, postForm, type Person } from './world.ts'

/**
 * Makes every request of the service, as users who have ten of each thing. Each section starts with new users, and
 * leaves most of its data.
 */
export async function makeEveryRequest(enterprise: Enterprise, mailbox: Mailbox): Promise<void> {
  const client = openRequestClient(enterprise.world)
  await setUp(client)
  const webhookId = await addServiceWebhook(client)
  await usePasskeys(client)
  await useSessions(client)
  await useIdentities(client, mailbox)
  await useKeys(client)
  await unlockDevices(client)
  await connectApps(client)
  await delegate(client)
  await mediate(client)
  await sign(client)
  await readLog(client)
  await registerApps(client)
  await organize(client, enterprise)
  await decideByCouncil(client)
  await signForOrganizations(client)
  await shareKeys(client)
  await signInByProvider(client, enterprise)
  await signInBySaml(client, enterprise)
  await useGroups(client)
  await operate(client)
  await provision(client)
  await invite(client, mailbox)
  await useServiceWebhook(client, webhookId)
}

/** Registers a user like the page does, with keys and a recovery code. */
async function register({ send }: RequestClient) {
  const [handle, recoveryAuth] = [newHandle(), anything()]
  const authenticator = createAuthenticator(place)
  await send({}, 'POST /api/auth/register/available', { handle })
  const { flowId, options } = await send({}, 'POST /api/auth/register/start', { handle, displayName: 'Someone' })
  const registered = await send({}, 'POST /api/auth/register/finish', {
    flowId,
    credential: authenticator.register(options),
    keyWraps: [
      { kind: 'passkey_prf', credentialId: authenticator.credentialId, ciphertext: 'by.pass.key' },
      { kind: 'recovery_code', ciphertext: 'by.recovery.code' },
    ],
    signingKey: { publicKey: newSigningPair().publicKey, encryptedPrivateKey: 'signing' },
    encryptionKey: { publicKey: newEncryptionKey(), encryptedPrivateKey: 'encryption' },
    recoveryAuth,
  })
  const identityId: string = registered.identities[0].identityId
  return { handle, recoveryAuth, authenticator, headers: bearer(registered.sessionToken), identityId }
}

function newEncryptionKey(): string {
  return generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
}

async function usePasskeys(client: RequestClient): Promise<void> {
  const { send } = client
  const { handle, recoveryAuth, authenticator, headers } = await register(client)
  await times(async () => {
    const added = createAuthenticator(place)
    const { flowId, options } = await send(headers, 'POST /api/auth/passkeys/start', {})
    const credential = added.register(options)
    const keyWrap = { kind: 'passkey_prf', credentialId: credential.id, ciphertext: 'a.b.c.d.e' }
    await send(headers, 'POST /api/auth/passkeys/finish', { flowId, credential, keyWrap })
  })
  const { passkeys } = await send(headers, 'GET /api/auth/passkeys')
  const added = passkeys.filter(
    (passkey: { credentialId: string }) => passkey.credentialId !== authenticator.credentialId,
  )
  const [{ credentialId }, { credentialId: renamed }] = added
  await send(headers, `PATCH /api/auth/passkeys/${renamed}`, { name: 'Another' })
  await send({}, 'POST /api/auth/passkeys/known', { credentialId: renamed })
  await send(headers, `DELETE /api/auth/passkeys/${credentialId}`)
  const requested = await send(headers, 'POST /api/auth/reauthenticate/start', {})
  const credential = authenticator.authenticate(requested.options)
  await send(headers, 'POST /api/auth/reauthenticate/finish', { flowId: requested.flowId, credential })
  const { flowId, options } = await send({}, 'POST /api/auth/recover/start', { handle, recoveryAuth })
  const recovering = createAuthenticator(place)
  const recovered = await send({}, 'POST /api/auth/recover/finish', {
    flowId,
    credential: recovering.register(options),
  })
  const newCode = () => ({ recoveryAuth: anything(), ciphertext: 'by.recovery.code' })
  const again = bearer(recovered.sessionToken)
  await send(again, 'PUT /api/account/recovery', { ...newCode(), ifNone: true })
  await send(again, 'PUT /api/account/recovery', newCode())
  await times(() => send({}, 'POST /api/auth/login/start', {}), 2)
}

async function useSessions({ world, send }: RequestClient): Promise<void> {
  const person = await world.person()
  const sessions = await times(() => person.signIn())
  const [headers = nobody, another = nobody, last = nobody] = sessions
  const app = await world.app({ backchannelLogoutUri: 'https://app.example/logout' })
  await times(() => app.tokens({ ...person, headers }))
  await send(headers, 'GET /api/auth/session')
  await send(headers, 'GET /api/auth/session/current')
  const listed = await send(sessions[3] ?? nobody, 'GET /api/auth/sessions')
  const other = listed.sessions.find(({ current }: { current: boolean }) => current)
  await send(headers, `DELETE /api/auth/sessions/${other.sessionId}`)
  const cookie = { cookie: `countersign=${headers.authorization.slice('Bearer '.length)}`, origin: place.origin }
  await send(cookie, 'POST /api/auth/session/business', {})
  const { id_token: idTokenHint } = await app.tokens({ ...person, headers: another })
  await send(another, 'POST /api/auth/session/end', { idTokenHint })
  await send(last, 'DELETE /api/auth/session')
  await send(headers, 'GET /api/account/activity?limit=10')
  await send(headers, 'GET /api/account/organizations')
  await send(headers, 'DELETE /api/auth/sessions')
  await person.signIn()
}

async function useIdentities({ world, send }: RequestClient, mailbox: Mailbox): Promise<void> {
  const person = await world.person()
  const { headers, identityId } = person
  const made = await times(() => send(headers, 'POST /api/identities', { handle: newHandle(), displayName: 'Also' }))
  await send(headers, 'GET /api/identities')
  await send(headers, `GET /api/identities/${identityId}`)
  await send(headers, `PATCH /api/identities/${identityId}`, { handle: newHandle(), displayName: 'Other' })
  await times(() => send(headers, `PUT /api/identities/${identityId}/avatar`, pngOf(64, 64)), 2)
  const { avatarUrl } = await send(headers, `GET /api/identities/${identityId}`)
  await send({}, `GET ${new URL(avatarUrl).pathname}`)
  await send({}, `GET ${new URL(avatarUrl).pathname}/64`)
  await send(headers, `DELETE /api/identities/${identityId}/avatar`)
  await send(headers, `PUT /api/identities/${identityId}/avatar`, pngOf(64, 64))
  for (const email of [newAddress(), newAddress()]) {
    await send(headers, `POST /api/identities/${identityId}/email`, { email })
    const code = await codeTo(mailbox, email)
    await send(headers, `POST /api/identities/${identityId}/email/verify`, { code })
  }
  await send(headers, `DELETE /api/identities/${identityId}/email`)
  await send(headers, `POST /api/identities/${identityId}/email`, { email: newAddress() })
  await send(headers, 'GET /api/account/export')
  await reauthenticate(world, person)
  await send(headers, `DELETE /api/identities/${made[0].identityId}`)
  await send(headers, 'DELETE /api/account')
  const remaining = await world.person()
  const url = `POST /api/identities/${remaining.identityId}/email` as const
  await send(remaining.headers, url, { email: newAddress() })
}

/** Returns the code mailed to an address; other mails belong to other sections. */
async function codeTo(mailbox: Mailbox, email: string): Promise<string> {
  const mail = await mailbox.take()
  const code = mail.to.includes(email) ? codeIn(mail) : ''
  return code === '' ? codeTo(mailbox, email) : code
}

async function useKeys(client: RequestClient): Promise<void> {
  const { world, send } = client
  const { headers, handle, identityId } = await register(client)
  await send(headers, 'GET /api/account/key-wraps')
  await send(headers, 'GET /api/account/recovery')
  await send(headers, `GET /api/encryption/keys/${identityId}`)
  await send({}, `GET /api/encryption/identity-key/${handle}`)
  const { passkeys } = await send(headers, 'GET /api/auth/passkeys')
  const keyWrap = { kind: 'passkey_prf', credentialId: passkeys[0].credentialId, ciphertext: 'a.b.c.d.e' }
  await send(headers, 'POST /api/account/key-wraps', keyWrap)
  await send(headers, 'PUT /api/account/key-wraps', {
    keyWraps: [keyWrap, { kind: 'recovery_code', ciphertext: 'by.recovery.code' }],
  })
  await send(headers, 'GET /api/account/self-record')
  await send(headers, 'PUT /api/account/self-record', { sequence: 1, ciphertext: 'a.b.c.d.e' })
  await send(headers, 'PUT /api/account/self-record', { sequence: 2, ciphertext: 'a.b.c.d.f' })
  await createKeyHolder(world)
}

async function unlockDevices({ world, send }: RequestClient): Promise<void> {
  const person = await world.person()
  const [asking, other] = [await person.signIn(), await person.signIn()]
  const url = '/api/account/device-approvals'
  const ask = () => send(asking, `POST ${url}`, { commitment: anything() })
  const [first, second] = [await ask(), await ask()]
  await send(other, `GET ${url}`)
  await send(other, `POST ${url}/${first.approvalId}/answer`, { publicKey: anything() })
  await send(asking, `GET ${url}/${first.approvalId}`)
  await send(asking, `POST ${url}/${first.approvalId}/reveal`, { publicKey: anything(), nonce: anything() })
  await send(other, `POST ${url}/${first.approvalId}/wrap`, { ciphertext: 'sealed' })
  await send(asking, `POST ${url}/${first.approvalId}/take`)
  await send(asking, `DELETE ${url}/${second.approvalId}`)
  await ask()
}

async function connectApps({ world, send }: RequestClient): Promise<void> {
  const person = await world.person()
  const { headers, identityId } = person
  const apps = await times(() => world.app({ supportsE2ee: true }))
  const [app] = apps
  if (!app) throw new Error('no app found')
  for (const each of apps) {
    const keys = { appPublicKey: newEncryptionKey(), encryptedAppPrivateKey: 'sealed' }
    await each.tokens(person, { scope: 'openid profile offline_access e2ee:asymmetric', ...keys })
  }
  const pushed = await postForm(world.api, '/api/oauth/par', {
    ...app.credentials,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: 'openid',
  })
  const { request_uri: requestUri } = pushed.json()
  const requested = new URLSearchParams({ client_id: app.clientId, request_uri: requestUri })
  await world.auth.inject({ url: `/signin?${requested}` })
  await send({}, 'POST /api/auth/login/start', { requestUri })
  const tokens = await app.tokens(person, { scope: 'openid profile offline_access e2ee:asymmetric' })
  const { refresh_token: refreshToken } = (await app.refresh(tokens.refresh_token)).json()
  await app.refresh(tokens.refresh_token)
  const again = await app.tokens(person, { scope: 'openid profile offline_access e2ee:asymmetric' })
  for (const method of ['GET', 'POST'] as const) await send(bearer(again.access_token), `${method} /api/oauth/userinfo`)
  for (const token of [again.access_token, again.access_token_jwt, again.refresh_token, refreshToken])
    await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })
  await postForm(world.api, '/api/oauth/revoke', { ...app.credentials, token: again.access_token })
  await postForm(world.api, '/api/oauth/revoke', { ...app.credentials, token: again.refresh_token })
  await send(headers, 'GET /api/oauth/authorizations')
  await send(headers, `GET /api/oauth/authorization/${app.clientId}?identity_id=${identityId}&scope=openid`)
  await send(headers, `PUT /api/oauth/authorization/${app.clientId}/app-key`, {
    identityId,
    encryptionMode: 'asymmetric',
    replaces: 'sealed',
    ciphertext: 'sealed again',
  })
  await send({}, `GET /api/encryption/app-lookup?client_id=${app.clientId}&handle=${person.handle}`)
  await send({}, `GET /api/oauth/app/${app.clientId}`)
  const { authorizations } = await send(headers, 'GET /api/oauth/authorizations')
  await send(headers, `DELETE /api/oauth/authorizations/${authorizations[0].id}`)
  await app.code(person, {
    scope: 'openid e2ee:asymmetric',
    appPublicKey: newEncryptionKey(),
    encryptedAppPrivateKey: 'sealed',
  })
  for (const path of ['openid-configuration', 'oauth-authorization-server', 'jwks.json', 'passkey-endpoints'])
    await world.auth.inject({ url: `/.well-known/${path}` })
  const resource = encodeURIComponent(`acct:${person.handle}@localhost:4401`)
  await world.auth.inject({ url: `/.well-known/webfinger?resource=${resource}` })
}

async function delegate(client: RequestClient): Promise<void> {
  const { world, send } = client
  const connectors = await createConnectors(world)
  const { person, exchange: exchangeToken } = await connectors.connected({ communicationMode: 'background' })
  for (const { consent } of await times(() => createConnectors(world))) await consent(person)
  const { access_token: token } = (await exchangeToken()).json()
  await connectors.introspect(connectors.target, token)
  const [{ id: delegationId }] = await delegationsOf(world, person)
  await send(person.headers, `GET /api/oauth/delegations/${delegationId}/uses`)
  await send({}, `GET /api/oauth/resource/${connectors.resourceKey}`)
  await send(person.headers, `DELETE /api/oauth/delegations/${delegationId}`)
  await actAtDemoCalendar(client)
}

/** Reads the demonstration calendar like the playground. */
async function actAtDemoCalendar({ world, send }: RequestClient): Promise<void> {
  const { headers, identityId } = await world.person()
  const { verifier, challenge: codeChallenge } = newChallenge()
  const redirectUri = 'http://localhost:4401/playground'
  const resource = 'https://calendar.playground.invalid'
  const { redirectUrl } = await send(headers, 'POST /api/oauth/authorize', {
    ...{ clientId: 'app_playground', redirectUri, identityId, scope: 'openid' },
    ...{ codeChallenge, codeChallengeMethod: 'S256' },
    ...{ connector: true, requestedResource: resource, requestedScope: 'calendar.read' },
  })
  const code = new URL(redirectUrl).searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', client_id: 'app_playground', redirect_uri: redirectUri }
  const redeemed = await postForm(world.api, '/api/oauth/token', { ...grant, code, code_verifier: verifier, resource })
  await send(bearer(redeemed.json().access_token), 'GET /api/playground/calendar')
}

async function mediate({ world, send }: RequestClient): Promise<void> {
  const [person, app] = [await world.person(), await world.app({ allowedScopes: ['openid', 'profile'] })]
  const browser = await openBrowser(world, person)
  await browser.accounts()
  await send({}, 'GET /api/oauth/fedcm/config')
  await send({}, `GET /api/oauth/fedcm/client-metadata?client_id=${app.clientId}`)
  await send({}, 'GET /.well-known/web-identity')
  for (const { verifier, params } of [newParams(), newParams()]) {
    const assertion = await browser.assertionFor(app, params)
    await exchange(world, app, assertion, { codeVerifier: verifier })
  }
  await browser.disconnect(app, person.identityId)
  await browser.assertion(app, newParams().params)
}

async function readUsage(
  { world, send }: RequestClient,
  { headers }: Pick<Person, 'headers'>,
  clientId: ClientId,
): Promise<void> {
  for (const code of usageErrors) world.services.usage.countError({ clientId, metadataFetchedAt: null }, code)
  await world.services.usage.flush()
  await send(headers, `GET /api/developer/apps/${clientId}/usage`)
}

async function registerApps(client: RequestClient): Promise<void> {
  const { world, send } = client
  const { headers } = await world.person()
  for (const [who, root] of [
    [headers, '/api/developer/apps'],
    [world.admin, '/api/admin/apps'],
  ] as const) {
    const settings = { name: 'Ledger', redirectUris: [`https://${newHandle()}.example/callback`] }
    const made = await times(() => send(who, `POST ${root}`, settings))
    const url = `${root}/${made[0].clientId}` as const
    await send(who, `GET ${root}${who === world.admin ? '?limit=5' : ''}`)
    await send(who, `GET ${url}`)
    if (who !== world.admin) await readUsage(client, { headers }, made[0].clientId)
    await send(who, `PATCH ${url}`, { name: 'The ledger' })
    await send(who, `PUT ${url}/icon`, pngOf(64, 64))
    await send(who, `DELETE ${url}/icon`)
    await send(who, `PUT ${url}/icon`, pngOf(64, 64))
    await send(who, `POST ${url}/secret`, { graceSeconds: 60 })
    const resourceKey = newHandle()
    const resource = { resourceKey, displayName: 'Notes', scopes: ['read'], audience: `https://${resourceKey}.example` }
    await send(who, `POST ${url}/resources`, resource)
    await send(who, `GET ${url}/resources`)
    await send(who, `PATCH ${url}/resources/${resourceKey}`, { displayName: 'All notes' })
    await send(who, `PUT ${url}/webhook`, { url: 'http://localhost:9/hook' })
    await send(who, `GET ${url}/webhook`)
    await send(who, `POST ${url}/webhook/secret`, { graceSeconds: 60 })
    const [sent] = await times(() => send(who, `POST ${url}/webhook/test`))
    await send(who, `GET ${url}/webhook/deliveries?limit=5`)
    await world.db
      .updateTable('webhook_delivery')
      .set({ state: 'failed', next_attempt_at: null })
      .where('receiver_id', '=', made[0].clientId)
      .where('delivery_id', '=', sent.deliveryId)
      .execute()
    await send(who, `POST ${url}/webhook/deliveries/${sent.deliveryId}/send`)
    const gone = `${root}/${made[1].clientId}` as const
    await send(who, `PUT ${gone}/webhook`, { url: 'http://localhost:9/hook' })
    await send(who, `DELETE ${gone}/webhook`)
    await send(who, `DELETE ${gone}`)
  }
}
