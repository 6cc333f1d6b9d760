import { offerSetup } from '#accounts/operators/setup.ts'
import { createAuthenticator } from './authenticator.ts'
import { codeIn, type Mailbox } from './mailbox.ts'
import { newHandle, times, type RequestClient } from './request-client.ts'

/** Sets up the service by its setup link. Once an operator exists, the same requests are refused. */
export async function setUp({ world }: RequestClient): Promise<void> {
  const link = await offerSetup(world.db, world.config, world.now())
  const setup = link?.url.split('#')[1] ?? 'cs_setup_late'
  const { headers, identityId } = await world.person()
  const answers = [
    await world.api.inject({ method: 'POST', url: '/api/setup/check', payload: { setup } }),
    await world.api.inject({ method: 'POST', url: '/api/setup', headers, payload: { setup, identityId } }),
  ]
  const expected = link ? 204 : 409
  const wrong = answers.find(({ statusCode }) => statusCode !== expected)
  if (wrong) throw new Error(`setup: ${wrong.statusCode} ${wrong.body}`)
}

/** Invites people. One of them registers. */
export async function invite({ world, send }: RequestClient, mailbox: Mailbox): Promise<void> {
  const { admin, config } = world
  const root = '/api/admin/invitations'
  const key = newHandle()
  await send(admin, 'POST /api/admin/groups', { key, displayName: 'Guests' })
  const made = await times(() => send(admin, `POST ${root}`, { kind: 'link', groups: [key], maxUses: 2 }))
  const [{ token: invitation }, { invitation: other }] = made
  await send(admin, `GET ${root}?limit=5`)
  await send(admin, `GET ${root}/${other.invitationId}`)
  await send(admin, `DELETE ${root}/${other.invitationId}`)
  const mailed = await send(admin, `POST ${root}`, { kind: 'mail', email: `${newHandle()}@example.org` })
  await mailbox.take()
  await send(admin, `POST ${root}/${mailed.invitation.invitationId}/resend`)
  await mailbox.take()
  const file = Buffer.from(`email,groups\n${newHandle()}@example.org,${key}\n`)
  const csv = { ...admin, 'content-type': 'text/csv' }
  await send(csv, `POST ${root}/import`, file)
  await send(csv, `POST ${root}/import?dryRun=false`, file)

  await send({}, 'POST /api/auth/register/invitation', { invitation })
  const person = { handle: newHandle(), displayName: 'A guest' }
  const { flowId, options } = await send({}, 'POST /api/auth/register/start', { ...person, invitation })
  const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
  const credential = authenticator.register(options)
  await send({}, 'POST /api/auth/register/finish', { flowId, credential, invitation })
  const { headers } = await world.person()
  await send(headers, 'POST /api/identities/invited', { ...person, handle: newHandle(), invitation })
  await addPeople({ world, send }, key)
  await registerByDomain({ world, send }, mailbox)
}

/** Registers someone by an address of a listed domain. */
async function registerByDomain({ world, send }: RequestClient, mailbox: Mailbox): Promise<void> {
  const { admin, config } = world
  const url = '/api/admin/settings'
  const change = async (settings: object) => {
    const { revision } = await send(admin, `GET ${url}`)
    return send({ ...admin, 'if-match': `"${revision}"` }, `PATCH ${url}`, { settings })
  }
  await change({ 'registration.mode': 'domains', 'registration.domains': ['example.org'] })
  const prove = async () => {
    const email = `${newHandle()}@example.org`
    const { verificationId } = await send({}, 'POST /api/auth/register/email', { email })
    let mail = await mailbox.take()
    // Mails of invitations that wait in the background come in between.
    while (!mail.to.includes(email)) mail = await mailbox.take()
    const proved = await send({}, 'POST /api/auth/register/email/verify', { verificationId, code: codeIn(mail) })
    return proved.emailProof
  }
  // One of the proofs remains.
  const [emailProof] = await times(prove, 2)
  const names = { handle: newHandle(), displayName: 'A colleague' }
  const { flowId, options } = await send({}, 'POST /api/auth/register/start', { ...names, emailProof })
  const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
  const credential = authenticator.register(options)
  await send({}, 'POST /api/auth/register/finish', { flowId, credential, emailProof })
  await change({ 'registration.mode': null, 'registration.domains': null })
}

/** Adds identities. One is accepted, one is deleted, and one remains invited. */
async function addPeople({ world, send }: RequestClient, group: string): Promise<void> {
  const { admin, config } = world
  const root = '/api/admin/identities'
  const names = () => ({ handle: newHandle(), displayName: 'An invited guest' })
  const [person, removed] = [names(), names()]
  const { identity, token } = await send(admin, `POST ${root}`, { ...person, groups: [group] })
  await send(admin, `GET ${root}/${identity.identityId}`)
  for (const look of ['status=invited&limit=5', `status=invited&group=${group}`, `q=${person.handle}`])
    await send(admin, `GET ${root}?${look}`)
  const again = await send(admin, `POST ${root}/${identity.identityId}/invitation`, {})
  await send({}, 'POST /api/auth/register/invitation', { invitation: again.token })
  const { flowId, options } = await send({}, 'POST /api/auth/register/start', { ...person, invitation: again.token })
  const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
  const credential = authenticator.register(options)
  await send({}, 'POST /api/auth/register/finish', { flowId, credential, invitation: again.token })
  if (token === again.token) throw new Error('the invitation before has not ended')

  const other = await send(admin, `POST ${root}`, removed)
  const deletion = { confirm: removed.handle, reason: 'A mistake' }
  await send(admin, `DELETE ${root}/${other.identity.identityId}`, deletion)
  const left = names()
  const further = await send(admin, `POST ${root}`, left)
  const { headers } = await world.person()
  await send(headers, 'POST /api/identities/invited', { ...left, invitation: further.token })
  await send(admin, `POST ${root}`, { ...names(), groups: [group] })
}
