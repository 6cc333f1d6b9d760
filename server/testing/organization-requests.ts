import { pngOf } from './pictures.ts'
import { randomUUID } from 'node:crypto'
import { actorOf, signedActOf } from './actor.ts'
import { businessOf, councilOf } from './council.ts'
import { startCustomerKms } from './customer-kms.ts'
import { confirmAsShown, flowOf, newClaims, scimPatch, scimUser } from './enterprise.ts'
import { createKeyHolder, newSharedKey, setMode } from './key-holder.ts'
import { businessRequest, join, createOrganization, reauthenticate } from './organization.ts'
import { bearer, newHandle, place, requestIdIn, times, type RequestClient, type Enterprise } from './request-client.ts'
import { startSamlProvider } from './saml-provider.ts'
import { signingRequesterOf, createSigner } from './signer.ts'

export async function organize(client: RequestClient, { verifyDomain }: Enterprise): Promise<void> {
  const { world, send } = client
  const owner = await world.person()
  const { headers, identityId } = owner
  await times(async (nth) => send(headers, 'POST /api/organizations', { name: `Acme ${nth}`, identityId }))
  const { id } = await createOrganization(world, owner)
  const url = `/api/organizations/${id}` as const
  const [joined, another] = await times(async () => {
    const person = await world.person()
    return { person, memberId: (await join(world, { id, owner, role: 'member' }, person)).memberId }
  })
  if (!joined || !another) throw new Error('no member has joined')
  const invitations = await times(async () =>
    send(headers, `POST ${url}/invitations`, { handle: (await world.person()).handle, role: 'viewer' }),
  )
  await send(headers, `GET ${url}/invitations`)
  const { invitation } = invitations[0]
  await send(headers, `GET ${url}/invitations/${invitation.invitationId}`)
  const invited = await world.person()
  const last = await send(headers, `POST ${url}/invitations`, { handle: invited.handle, role: 'viewer' })
  await send(invited.headers, `GET /api/invitations/${last.token}`)
  await send({}, `GET /api/invitations/${last.token}/preview`)
  await send(invited.headers, 'GET /api/account/invitations')
  const answered = `${url}/invitations/${last.invitation.invitationId}` as const
  await send(invited.headers, `POST ${answered}/decline`, { identityId: invited.identityId })
  const again = await send(headers, `POST ${url}/invitations`, { handle: invited.handle, role: 'viewer' })
  // Ends when the invited user joins.
  await send(headers, `POST ${url}/invitations`, { handle: invited.handle, role: 'viewer' })
  const accepted = `${url}/invitations/${again.invitation.invitationId}/accept` as const
  await send(invited.headers, `POST ${accepted}`, { identityId: invited.identityId })
  const mailed = await send(headers, `POST ${url}/invitations`, { email: `${newHandle()}@example.com`, role: 'viewer' })
  await send(headers, `POST ${url}/invitations/${mailed.invitation.invitationId}/mail`)
  await send(headers, `DELETE ${url}/invitations/${invitation.invitationId}`)
  await send(headers, 'GET /api/organizations')
  await send(headers, `GET ${url}`)
  await send(headers, `PATCH ${url}`, { name: 'Acme AG' })
  await send(headers, `GET ${url}/members?limit=5&q=a&role=member`)
  await send(headers, `GET ${url}/members?limit=5`)
  await send(headers, `GET ${url}/members`)
  await send(headers, `GET ${url}/members/${joined.memberId}`)
  await send(headers, `PATCH ${url}/members/${joined.memberId}`, { role: 'admin' })
  await send(headers, `DELETE ${url}/members/${another.memberId}`)
  await verifyDomain({ owner, organizationId: id }, `${newHandle()}.example`)
  const claims = await times(() => send(headers, `POST ${url}/domains`, { domain: `${newHandle()}.example` }))
  await send(headers, `GET ${url}/domains`)
  await send(headers, `DELETE ${url}/domains/${claims[0].domain.domainId}`)
  await send(headers, `GET ${url}/audit?limit=5&action=organization.member`)
  await world.business.inject({ url: `${url}/audit/export?format=jsonl`, headers })
  await world.business.inject({ url: `${url}/trail`, headers })
  await actFor(client)
  const app = await world.app()
  const tokens = await times(() => app.tokens(owner, { organizationId: id }))
  await app.tokens(joined.person, { organizationId: id })
  const asApp = bearer(tokens[0]?.access_token ?? '')
  await send(asApp, 'GET /api/oauth/organizations')
  const personal = bearer((await app.tokens(owner)).access_token)
  await send(personal, 'GET /api/oauth/organizations')
  await send(personal, 'POST /api/oauth/workspaces', { name: 'New', userConfirmedServiceWorkspaceCreation: true })
  const gone = await createOrganization(world, owner)
  await join(world, { id: gone.id, owner, role: 'viewer' }, joined.person)
  await times(() => send(headers, `POST /api/organizations/${gone.id}/pictures`, pngOf(64, 64)), 2)
  const { picture } = await send(headers, `POST /api/organizations/${id}/pictures`, pngOf(64, 64))
  const logo = { logoUrl: picture.url, logoSha256: picture.sha256 }
  await send(headers, `PATCH /api/organizations/${id}`, logo)
  await send(headers, `PATCH /api/organizations/${gone.id}`, { slug: newHandle() })
  await send(headers, `DELETE /api/organizations/${gone.id}`)
}

/** Starts acts of a member, reads and declines one, and does the others. */
async function actFor({ world, send }: RequestClient): Promise<void> {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  const actor = actorOf(world, owner)
  const rename = `PATCH /organizations/${id}` as const
  await times((nth) => actor.act(rename, { name: `Acme ${nth}` }))
  const declined = await actor.start(rename, { name: 'Declined' })
  const url = `/api/organizations/${id}/acts` as const
  await send(owner.headers, `GET ${url}/${declined.actId}`)
  await send(owner.headers, `GET ${url}/${declined.actId}/trail?after=1`)
  await send(owner.headers, `DELETE ${url}/${declined.actId}`)
  const started = await actor.start(rename, { name: 'Done' })
  await send(owner.headers, `POST ${url}/${started.actId}`, signedActOf(owner, started.statement))
  await actor.start(rename, { name: 'Open' })
}

export async function signForOrganizations({ world, send }: RequestClient): Promise<void> {
  const [owner, approver] = [await createSigner(world), await createSigner(world)]
  const { id } = await createOrganization(world, owner)
  const { memberId } = await join(world, { id, owner, role: 'admin' }, approver)
  await send(owner.headers, `PATCH /api/organizations/${id}/members/${memberId}`, { scopes: ['read', 'approve'] })
  const council = councilOf(businessOf(world), id)
  await council.decide({ by: owner, others: [approver] }, 'PATCH', { approvalsNeeded: 1 })
  const shop = signingRequesterOf(world, await world.app())
  const [first = '', second = ''] = await times(async () => requestIdIn(await shop.requestOf(id)), 3)
  await times(async () => requestIdIn(await signingRequesterOf(world, await world.app()).requestOf(id)))
  await send(approver.headers, `POST /api/signing/requests/${first}/approve`, {
    signature: approver.pair.sign('Pay 10 €'),
  })
  await owner.listRequests()
  await owner.readPending()
  await owner.readRequest(first)
  const signed = await owner.sign(first, owner.pair.sign('Pay 10 €'))
  if (signed.statusCode !== 200) throw new Error(signed.body)
  await owner.deny(second)
  await shop.status(first)
  await send(owner.headers, `GET /api/organizations/${id}/signing-requests?limit=2`)
  await send(owner.headers, `GET /api/signing/requests/${first}`)
  await send(owner.headers, `GET /api/signing/requests/${first}/receipt`)
  await send(owner.headers, 'GET /api/signing/history?limit=5')
}

export async function shareKeys({ world, send }: RequestClient): Promise<void> {
  const kms = await startCustomerKms()
  const [owner, member] = [await createKeyHolder(world), await createKeyHolder(world)]
  const managed = await createOrganization(world, owner)
  await businessRequest(world, owner, `PUT /organizations/${managed.id}/kms`, { url: kms.url })
  await setMode(world, owner, managed.id, 'enterprise_managed')
  const ofKms = await send(owner.headers, `POST /api/organizations/${managed.id}/keys`, {})
  await send(owner.headers, `GET /api/organizations/${managed.id}/keys/${ofKms.key.keyId}/wraps`)
  await send(owner.headers, `GET /api/organizations/${managed.id}/kms`)
  const unmanaged = await createOrganization(world, owner)
  await businessRequest(world, owner, `PUT /organizations/${unmanaged.id}/kms`, { url: kms.url })
  await send(owner.headers, `DELETE /api/organizations/${unmanaged.id}/kms`)
  await kms.close()

  const { id } = await createOrganization(world, owner)
  const { memberId } = await join(world, { id, owner, role: 'member' }, member)
  await setMode(world, owner, id, 'e2ee')
  const url = `/api/organizations/${id}/keys` as const
  let replaces: string | undefined
  const keys = await times(async () => {
    const shared = newSharedKey(id)
    const { key } = await send(owner.headers, `POST ${url}`, {
      fingerprint: shared.fingerprint,
      ciphertext: await shared.wrapTo(owner),
      ...(replaces !== undefined && { replaces }),
    })
    replaces = key.keyId
    return { shared, keyId: key.keyId }
  }, 3)
  await send(owner.headers, `GET ${url}`)
  await send(owner.headers, `DELETE ${url}/${keys[0]?.keyId}`)
  const last = keys.at(-1)
  if (!last) throw new Error('no organization key')
  const wraps = [{ memberId, ciphertext: await last.shared.wrapTo(member) }]
  await send(owner.headers, `PUT ${url}/${last.keyId}/wraps`, { wraps })
  await send(member.headers, `GET ${url}/${last.keyId}/wraps`)
  await send(member.headers, `DELETE ${url}/${last.keyId}/wraps`)
}

export async function signInByProvider({ world, send }: RequestClient, enterprise: Enterprise): Promise<void> {
  const owner = await world.person()
  const acme = await enterprise.organization(owner)
  const domain = `${newHandle()}.example`
  await enterprise.verifyDomain(acme, domain)
  const { connectionId } = await enterprise.connect(acme, { domains: [domain] })
  const headers = await owner.signIn()
  const url = `/api/organizations/${acme.organizationId}/sso-connections` as const
  const trying = enterprise.browser()
  const { url: address } = await send(headers, `POST ${url}/${connectionId}/test`)
  const { location = '' } = (await trying.get(address)).headers
  await trying.follow(enterprise.upstream.approve(location, newClaims()).href)
  await enterprise.confirm(acme, connectionId)
  await send(headers, `GET ${url}`)
  await send(headers, `GET ${url}/${connectionId}`)
  const { slug } = (await send(headers, `GET /api/organizations/${acme.organizationId}`)).organization
  const groupRules = Array.from({ length: 10 }, (_, nth) => {
    return { claim: 'groups', value: `g${nth}`, group: `org:${slug}:g${nth}` }
  })
  const groups = groupRules.map(({ value }) => value)
  await send(headers, `PATCH ${url}/${connectionId}`, { name: 'The login', groupRules })
  await send({}, 'POST /api/sso/discover', { email: `ann@${domain}` })
  await send({ origin: place.origin }, `POST /api/sso/${connectionId}/start`, {
    returnTo: 'http://localhost:4401/account',
  })
  const claims = { ...claimsOf(domain), groups }
  const { browser } = await enterprise.colleague(connectionId, claims)
  await browser.signIn(connectionId, { ...claims, groups: groups.slice(5) })
  await browser.page('GET', '/api/auth/session')
  const stranger = enterprise.browser()
  const flowId = flowOf(await stranger.signIn(connectionId, claimsOf(domain)))
  await stranger.page('GET', `/api/sso/arrivals/${flowId}`)
  await send(headers, `PATCH /api/organizations/${acme.organizationId}`, { ssoRequired: true })
  await send(owner.headers, `GET /api/organizations/${acme.organizationId}`)
  await confirmArrival(enterprise, connectionId, domain)

  const { ask } = await enterprise.provision(acme, connectionId)
  const user = () => scimUser({ userName: `${randomUUID()}@acme.example`, externalId: randomUUID() })
  const users = await times(async () => (await ask('POST', '/Users', user())).json<{ id: string }>())
  const [one, other] = users
  await ask('GET', '/Users?count=5')
  await ask('GET', `/Users/${one?.id}`)
  await ask('PUT', `/Users/${one?.id}`, user())
  await ask('PATCH', `/Users/${one?.id}`, scimPatch({ op: 'replace', path: 'active', value: false }))
  await ask('DELETE', `/Users/${other?.id}`)

  const unused = await enterprise.connect(acme)
  await enterprise.provision(acme, unused.connectionId)
  const fresh = await owner.signIn()
  await send(fresh, `DELETE ${url}/${unused.connectionId}/scim-token`)
  await send(fresh, `DELETE ${url}/${unused.connectionId}`)
}

const claimsOf = (domain: string) => ({ ...newClaims({ email: `${randomUUID()}@${domain}` }), groups: [] })

/** Confirms a sign-in that another site started in the browser of another user. */
async function confirmArrival(enterprise: Enterprise, connectionId: string, domain: string): Promise<void> {
  const { claims, browser } = await enterprise.colleague(connectionId, claimsOf(domain))
  browser.bring(await enterprise.world.person())
  const arrived = await browser.signIn(connectionId, claims, {}, 'cross-site')
  await confirmAsShown(browser, flowOf(arrived))
}

export async function signInBySaml({ world, send }: RequestClient, enterprise: Enterprise): Promise<void> {
  const idp = await startSamlProvider(world.now)
  const owner = await world.person()
  const { organizationId } = await enterprise.organization(owner)
  const url = `/api/organizations/${organizationId}/sso-connections` as const
  const payload = { name: 'Acme SAML', saml: { metadataUrl: idp.metadataUrl } }
  const { connection } = await send(owner.headers, `POST ${url}`, payload)
  const { connectionId } = connection
  await reauthenticate(world, owner)
  await send(owner.headers, `POST ${url}/${connectionId}/encryption-key`)
  await send(owner.headers, `DELETE ${url}/${connectionId}/encryption-key`)
  await idp.register((await world.api.inject({ url: `/api/sso/${connectionId}/metadata` })).body)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const nameId = randomUUID()
  const attributes = { email: `${nameId}@acme.example`, displayName: 'Ann Example' }
  const { action, fields } = await idp.approve(location, { nameId, attributes })
  await browser.follow(action, fields)
  await idp.close()
}
