import * as endpoints from '@countersign/protocol/operations/people'
import type { FastifyRequest } from 'fastify'
import { addInvitedIdentity, type Invited, inviteAgain } from '#accounts/invitations/invited/addition.ts'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { listActivityOfIdentity } from '#platform/audit/audit-log.ts'
import { sendDownload } from '#platform/http/download.ts'
import { entityTagOf, versionIn } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { ExportParts } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { listConnectedApps } from '#oauth/consents/consent.ts'
import { getIdentity, listIdentities, readDetails, recordView } from './directory.ts'
import { editIdentity } from './edit.ts'
import { exportIdentity } from './export.ts'

const entriesDefault = 50

export type PeopleServices = { kernel: ServerContext; exportParts: readonly ExportParts[] }

/** Routes for operators: find identities, see what they did, export and edit them. */
export function peopleRoutes(host: Host, services: PeopleServices): void {
  const { kernel } = services
  const { db, clock } = kernel
  const operator = adminGuard(kernel)
  const { onRequest } = operator

  host.route({
    ...endpoints.listAdminIdentities,
    onRequest,
    handler: (request) => listIdentities(kernel, operator.of(request), request.query, clock()),
  })

  invitationRoutes(host, kernel)

  host.route({
    ...endpoints.getAdminIdentity,
    onRequest,
    async handler(request, reply) {
      const identity = await getIdentity(kernel, operator.of(request), request.params.identityId, clock())
      return reply.header('etag', entityTagOf(identity.version)).send({ identity })
    },
  })

  host.route({
    ...endpoints.updateAdminIdentity,
    onRequest,
    async handler(request, reply) {
      const version = versionIn(request.headers['if-match'])
      const target = { operator: operator.of(request), ...request.params, version }
      const identity = await editIdentity(kernel, target, request.body, clock())
      return reply.header('etag', entityTagOf(identity.version)).send({ identity })
    },
  })

  host.route({
    ...endpoints.listAdminIdentityActivity,
    onRequest,
    async handler(request) {
      const { identityId } = request.params
      await recordView(db, operator.of(request), identityId, clock())
      const { cursor, limit } = request.query
      const count = Number(limit ?? entriesDefault)
      const found = await listActivityOfIdentity(db, identityId, { before: cursor, count: count + 1 })
      const entries = found.slice(0, count)
      return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
    },
  })

  host.route({
    ...endpoints.listAdminIdentityApps,
    onRequest,
    async handler(request) {
      const { identityId } = request.params
      await recordView(db, operator.of(request), identityId, clock())
      return { apps: await listConnectedApps(db, identityId) }
    },
  })

  exportRoute(host, services)
}

function invitationRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)
  const invitingOf = (request: FastifyRequest) => ({
    operator: of(request),
    browserLanguage: negotiateLanguage(request),
  })
  const toInvited = async ({ identityId, ...invited }: Invited, now: Date) => ({
    identity: await readDetails(db, identityId, now),
    ...invited,
  })

  host.route({
    ...endpoints.createAdminIdentity,
    onRequest,
    async handler(request, reply) {
      const now = clock()
      const invited = await addInvitedIdentity(kernel, { ...request.body, ...invitingOf(request) }, now)
      return reply.status(201).send(await toInvited(invited, now))
    },
  })

  host.route({
    ...endpoints.inviteAdminIdentityAgain,
    onRequest,
    async handler(request, reply) {
      const now = clock()
      const again = { ...request.body, ...request.params, ...invitingOf(request) }
      return reply.status(201).send(await toInvited(await inviteAgain(kernel, again, now), now))
    },
  })
}

function exportRoute(host: Host, services: PeopleServices): void {
  const { clock, log } = services.kernel
  const { onRequest, of } = adminGuard(services.kernel)

  host.route({
    ...endpoints.exportAdminIdentity,
    // The response is sent as text, in pieces.
    schema: { params: endpoints.exportAdminIdentity.schema.params },
    onRequest,
    async handler(request, reply) {
      const pieces = await exportIdentity(services, of(request), request.params.identityId, clock())
      return sendDownload({ host, log }, { request, reply }, { pieces, fileName: 'countersign-identity.json' })
    },
  })
}
