import type { FastifyRequest } from 'fastify'
import type { Config } from '#platform/config/config.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Host } from '#platform/http/host.ts'
import { type Pages, siteSettings } from '#platform/http/page.ts'
import type { Mailer } from '#platform/outbound/mail.ts'
import { isSentFromThisMachine } from '#platform/source-address.ts'

const errors = defineErrors({ not_found: [404, 'Not found.'] })

type Shown = { config: Config; mail: Mailer; pages: Pages }

/**
 * Registers `/dev/mail` on the auth host of a service on localhost without a mail server: the mails that it would have
 * sent, with their codes and links. For everyone but the user of this machine the paths do not exist.
 */
export function developmentMailRoutes(auth: Host, { config, mail: { inbox }, pages }: Shown): void {
  if (!inbox) return
  const site = siteSettings(config)
  auth.route({
    method: 'GET',
    url: '/dev/mail',
    config: { security: 'none', cors: 'no origin', host: 'auth', page: true },
    handler(request, reply) {
      requireOwnMachine(request)
      return pages.show(reply, { page: 'dev-mail', site })
    },
  })
  auth.route({
    method: 'GET',
    url: '/dev/mail/messages',
    config: { security: 'none', cors: 'no origin', host: 'auth' },
    handler(request) {
      requireOwnMachine(request)
      return { mails: inbox.list() }
    },
  })
}

function requireOwnMachine(request: FastifyRequest): void {
  if (!isSentFromThisMachine(request)) throw errors.not_found()
}
