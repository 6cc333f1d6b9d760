import { pngOf } from './pictures.ts'
import { asPage } from './operators.ts'
import { createOrganization } from './organization.ts'
import { bearer, newAddress, newHandle, type RequestClient, times } from './request-client.ts'
import { recover } from './recovery-requests.ts'

/** Sends every request of operators, except those about apps and groups. */
export async function operate({ world, send }: RequestClient): Promise<void> {
  const { admin } = world
  const person = await world.person()
  const { id } = await createOrganization(world, person)
  await send(admin, 'GET /api/admin/organizations?limit=5')
  await send(admin, `GET /api/admin/organizations/${id}`)
  await send(admin, `PATCH /api/admin/organizations/${id}`, { status: 'suspended' })
  const suspended = await world.person()
  const identity = `/api/admin/identities/${suspended.identityId}` as const
  await send(admin, `POST ${identity}/sign-out`, { scope: 'account' })
  await send(admin, `POST ${identity}/suspension`, { reason: 'Left the company' })
  await send(admin, `DELETE ${identity}/suspension`)
  await send(admin, `POST ${identity}/suspension`, { reason: 'Left the company' })
  const removed = await world.person()
  const deletion = { confirm: removed.handle, reason: 'Left the company' }
  await send(admin, `DELETE /api/admin/identities/${removed.identityId}`, deletion)
  await send(admin, `POST /api/admin/identities/${removed.identityId}/restore`)
  await send(admin, `DELETE /api/admin/identities/${removed.identityId}`, deletion)
  await recover({ world, send })
  await manageOperators({ world, send })
  await manageSinks({ world, send })
  await changeSettings({ world, send })
  for (const filter of ['', `&identity=${person.identityId}`, `&organizationId=${id}`, '&action=app&clientId=app_none'])
    await send(admin, `GET /api/admin/audit?limit=5${filter}`)
  for (const format of ['csv', 'jsonl']) await send(admin, `GET /api/admin/audit/export?format=${format}&action=app`)
  await send(admin, 'GET /api/admin/audit/stream?follow=false')
  await send(admin, 'GET /api/admin/audit/verify?limit=20')
  const { identityId } = person
  const looks = [`organization=${id}&emailDomain=example.org`, 'q=person+the&limit=5', 'status=suspended&limit=5']
  looks.push('status=deletion_scheduled&limit=5')
  for (const look of [...looks, 'status=active&limit=5']) await send(admin, `GET /api/admin/identities?${look}`)
  await send(admin, `GET /api/admin/identities/${identityId}`)
  await send(admin, `GET /api/admin/identities/${identityId}/activity?limit=5`)
  await send(admin, `GET /api/admin/identities/${identityId}/apps`)
  await send(admin, `GET /api/admin/identities/${identityId}/export`)
  const edited = await send(admin, `GET /api/admin/identities/${identityId}`)
  const replacing = { ...admin, 'if-match': `"${edited.identity.version}"` }
  const edit = { handle: newHandle(), displayName: 'Renamed', email: newAddress() }
  await send(replacing, `PATCH /api/admin/identities/${identityId}`, edit)
  await send(admin, 'GET /api/admin/keys')
  await send(admin, 'GET /api/admin/health')
  await send(admin, 'GET /api/admin/overview')
  await send(admin, 'POST /api/admin/keys/rotate', { atOnce: true })
  for (const host of [world.api, world.auth, world.business])
    for (const url of ['/healthz', '/readyz']) await host.inject({ url })
}

/** Sends requests about a receiver of the audit log that cannot be reached. */
async function manageSinks({ world: { admin }, send }: RequestClient): Promise<void> {
  const key = newHandle().slice(0, 20)
  const body = { key, kind: 'http', url: 'http://localhost:9/audit', headers: { authorization: 'Splunk key' } }
  const { sink } = await send(admin, 'POST /api/admin/sinks', body)
  const path = `/api/admin/sinks/${sink.sinkId}` as const
  await send(admin, 'GET /api/admin/sinks')
  await send(admin, `GET ${path}`)
  await send(admin, `PATCH ${path}`, { actions: ['operator'] })
  await send(admin, `PUT ${path}/cursor`, { cursor: 0 })
  await send(admin, `POST ${path}/secret`, { graceSeconds: 60 })
  await send(admin, `POST ${path}/test`)
  await send(admin, `DELETE ${path}`)
}

/** Adds a webhook of the service that cannot be reached. Until it is removed, events are recorded for it. */
export async function addServiceWebhook({ world, send }: RequestClient): Promise<string> {
  const { webhook } = await send(world.admin, 'POST /api/admin/webhooks', { url: 'http://localhost:9/events' })
  return webhook.webhookId
}

/** Sends the other requests about a webhook of the service, and removes it. */
export async function useServiceWebhook({ world, send }: RequestClient, webhookId: string): Promise<void> {
  const { admin, db } = world
  const path = `/api/admin/webhooks/${webhookId}` as const
  await send(admin, 'GET /api/admin/webhooks')
  await send(admin, `GET ${path}`)
  await send(admin, `POST ${path}/secret`, { graceSeconds: 60 })
  const { deliveryId } = await send(admin, `POST ${path}/test`)
  await db
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_attempt_at: null })
    .where('receiver_id', '=', webhookId)
    .where('delivery_id', '=', deliveryId)
    .execute()
  await send(admin, `GET ${path}/deliveries?limit=5`)
  await send(admin, `POST ${path}/deliveries/${deliveryId}/send`)
  await send(admin, `PATCH ${path}`, { events: ['identity.deleted'] })
  await send(admin, `DELETE ${path}`)
}

async function changeSettings({ world, send }: RequestClient): Promise<void> {
  const { admin } = world
  const { revision } = await send(admin, 'GET /api/admin/settings')
  const settings = { 'branding.name': `Example ${revision}` }
  const at = (replaced: number) => ({ ...admin, 'if-match': `"${replaced}"` })
  await send(at(revision), 'PATCH /api/admin/settings', { settings })
  await send(at(revision + 1), `POST /api/admin/settings/revisions/${revision}/restore`)
  await send(at(revision + 2), 'PUT /api/admin/settings/logo', pngOf(64, 64))
  await send(admin, 'GET /api/admin/settings/revisions?limit=5')
  await declare({ world, send })
}

async function declare({ world, send }: RequestClient): Promise<void> {
  const { admin } = world
  const [source, key] = ['every-request', newHandle().toLowerCase()]
  const audience = `https://${key}.declared.example.com`
  const resources = [{ resourceKey: `${key}.read`, displayName: 'Declared', scopes: ['read'], audience }]
  const webhook = { url: 'https://declared.example.com/hook' }
  const app = { key, name: 'Declared', redirectUris: ['https://declared.example.com/callback'], resources, webhook }
  const groups = [{ key, displayName: 'Declared' }]
  const { slug } = await createOrganization(world, await world.person())
  const invitations = [{ email: newAddress() }]
  const sinks = [{ key: `declared-${key.slice(-8)}`, kind: 'syslog', url: 'tls://siem.example.com:6514' }]
  const declared = { groups, apps: [app], organizations: [{ slug }], invitations, sinks }
  const document = { apiVersion: 'countersign/v1', source, ...declared }
  await send(admin, 'POST /api/admin/apply', { document })
  await send(admin, 'POST /api/admin/apply', { document, dryRun: false })
  await send(admin, `GET /api/admin/export?source=${source}`)
}

async function manageOperators({ world, send }: RequestClient): Promise<void> {
  const { admin } = world
  const people = await times(() => world.person())
  for (const { handle } of people) await send(admin, 'POST /api/admin/operators', { handle, role: 'owner' })
  const [first, second] = people
  if (!first || !second) throw new Error('no operators')
  const page = asPage(world, first.sessionToken)
  await send(page, `PATCH /api/admin/operators/${second.identityId}`, { role: 'apps' })
  await send(page, `DELETE /api/admin/operators/${second.identityId}?tokens=keep`)
  await send(page, 'GET /api/admin/operators')
  await send(bearer(first.sessionToken), 'GET /api/account/operators')
  const token = { name: 'A token', permissions: ['apps.read'] }
  const made = await times(() => send(page, 'POST /api/admin/tokens', token))
  const [{ adminToken }] = made
  const rotated = await send(page, `POST /api/admin/tokens/${adminToken.tokenId}/rotate`, { graceSeconds: 60 })
  await send(bearer(rotated.token), 'GET /api/admin/apps?limit=5')
  await send(admin, 'GET /api/admin/tokens')
  await send(page, `DELETE /api/admin/tokens/${made[1].adminToken.tokenId}`)
}
