import { createConnectors } from '../connectors.ts'
import type { Enterprise } from '../enterprise.ts'
import { openInvited } from '../invited.ts'
import { makeOperator } from '../operators.ts'
import { reauthenticate } from '../organization.ts'
import { requestIdIn } from '../request-client.ts'
import { openDirectory } from '../scim.ts'
import { createSigner, signingRequesterOf } from '../signer.ts'
import { startWebhookReceiver } from '../webhook-receiver.ts'
import type { Person, TestApp, TestWorld } from '../world.ts'

/** What users, apps and operators of a release hold outside of the database, as JSON. */
export type ReleasedUsers = Awaited<ReturnType<typeof addUsers>>

/** Adds users, apps and operators; returns what they need to continue with a later version. */
export async function addUsers({ world, organization }: Enterprise) {
  const owner = await world.person('margaret-hamilton')
  const { organizationId } = await organization(owner, 'Apollo')
  const log = await readLog(world)
  return {
    log,
    user: await addUser(world),
    signer: await addSigner(world),
    connector: await addConnector(world),
    organization: { owner: save(owner), organizationId },
    webhook: await addWebhook(world),
    operator: save(await makeOperator(world, await world.person('hedy-lamarr'), 'owner')),
    directory: await addDirectory(world),
    invited: await addInvited(world),
  }
}

const save = ({ authenticator, handle, userId, identityId, sessionToken }: Person) => ({
  ...{ handle, userId, identityId, sessionToken },
  credential: authenticator.save(),
})

const saveApp = ({ clientId, clientSecret, redirectUri }: TestApp) => ({ clientId, clientSecret, redirectUri })

async function succeed(answer: Promise<{ statusCode: number; body: string }>): Promise<void> {
  const { statusCode, body } = await answer
  if (statusCode >= 400) throw new Error(body)
}

/** A user with keys, who signs in to an app. */
async function addUser(world: TestWorld) {
  const person = await world.person('ada-lovelace')
  await reauthenticate(world, person)
  const app = await world.app({ name: 'Engine', supportsE2ee: true })
  const keyWrap = { kind: 'passkey_prf', credentialId: person.authenticator.credentialId, ciphertext: 'a.b.c.d.e' }
  const { headers } = person
  await succeed(
    world.api.inject({ method: 'PUT', url: '/api/account/key-wraps', headers, payload: { keyWraps: [keyWrap] } }),
  )
  const tokens = await app.tokens(person, {
    scope: 'openid profile offline_access e2ee:symmetric',
    encryptedAppKey: 'sealed',
  })
  const code = await app.code(person)
  return {
    ...save(person),
    app: saveApp(app),
    keyWrap,
    appKey: 'sealed',
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    code,
  }
}

/** A user who has signed one request of an app, and is asked to sign another. */
async function addSigner(world: TestWorld) {
  const signer = await createSigner(world, 'emmy-noether')
  const app = await world.app({ name: 'Shop' })
  const shop = signingRequesterOf(world, app)
  const signed = requestIdIn(await shop.request(signer.identityId))
  await succeed(signer.sign(signed, signer.pair.sign('Pay 10 €')))
  const receipt = await world.api.inject({ url: `/api/signing/requests/${signed}/receipt`, headers: signer.headers })
  const pending = requestIdIn(await shop.request(signer.identityId))
  return {
    ...save(signer),
    app: saveApp(app),
    privateKey: signer.pair.pem,
    signed,
    receipt: receipt.body,
    pending,
  }
}

/** A user with a delegation to an app. */
async function addConnector(world: TestWorld) {
  const connectors = await createConnectors(world)
  const { person, subjectToken } = await connectors.connected({ communicationMode: 'background' })
  const delegated = await connectors.delegated(subjectToken)
  return {
    ...save(person),
    ...{ source: saveApp(connectors.source), target: saveApp(connectors.target) },
    ...{ resourceKey: connectors.resourceKey, subjectToken, accessToken: delegated.access_token },
  }
}

/** An app that has a webhook, with its secret. */
async function addWebhook(world: TestWorld) {
  const receiver = await startWebhookReceiver()
  const app = await world.app({ name: 'Ledger' })
  const url = `/api/admin/apps/${app.clientId}/webhook`
  const answer = await world.api.inject({ method: 'PUT', url, headers: world.admin, payload: { url: receiver.url } })
  await receiver.close()
  return { app: saveApp(app), secret: answer.json<{ secret: string }>().secret }
}

/** A directory with a user and a group. */
async function addDirectory(world: TestWorld) {
  const directory = await openDirectory(world)
  const user = await directory.created({ userName: 'alan.turing', displayName: 'Alan Turing' })
  await succeed(
    directory.ask('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Hut 8',
      members: [{ value: user.id }],
    }),
  )
  return { token: directory.token, userId: String(user.id), userName: String(user.userName) }
}

/** Someone who has not accepted their invitation yet. */
async function addInvited(world: TestWorld) {
  const { token, names, identityId } = await openInvited(world).add({ handle: 'sophie-germain' })
  return { token, names, identityId }
}

/** The checkpoint of the log, as a monitor keeps it. */
async function readLog(world: TestWorld) {
  world.pass(120)
  const answer = await world.api.inject({ url: '/api/transparency/checkpoint' })
  return { checkpoint: answer.body }
}
