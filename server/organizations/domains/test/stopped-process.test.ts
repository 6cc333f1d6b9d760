import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { sql } from 'kysely'
import { reopenStorage } from '#testing/database.ts'
import { codeIn, openMailbox } from '#testing/mailbox.ts'
import { startNameServer } from '#testing/name-server.ts'
import { ask, createRemotePerson } from '#testing/remote-signer.ts'
import { startService } from '#testing/service.ts'

test('DOM-12 the owners of a domain get the mail about its loss although the process is killed', async (t) => {
  const [mailbox, dns] = await Promise.all([openMailbox(), startNameServer()])
  t.after(() => Promise.all([mailbox.close(), dns.close()]))
  const mail = { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' }
  const service = await startService({ environment: { DNS_SERVERS: dns.address, ...mail } })
  t.after(() => service.close())
  const business = { baseUrl: service.businessUrl }

  /** Creates an organization that verifies the domain, which its record takes from the one before. */
  async function verify(person: Awaited<ReturnType<typeof createRemotePerson>>) {
    const { identityId, headers } = person
    const made = { headers, json: { name: 'Acme', identityId } }
    const { organization } = await ask<{ organization: { id: string } }>(business, '/api/organizations', made)
    const path = `/api/organizations/${organization.id}/domains`
    const claimed = { headers, json: { domain: 'killed.example' } }
    const { domain } = await ask<{ domain: OrganizationDomain }>(business, path, claimed)
    dns.setTexts(domain.challenge.name, domain.challenge.value)
    await ask(business, `${path}/${domain.domainId}/verify`, { headers })
  }

  const owner = await createRemotePerson(service)
  const email = 'owner@mail.example'
  const [path, { headers }] = [`/api/identities/${owner.identityId}/email`, owner]
  await ask(service, path, { headers, json: { email } })
  await ask(service, `${path}/verify`, { headers, json: { code: codeIn(await mailbox.take()) } })
  await verify(owner)

  const release = mailbox.hold(email)
  await verify(await createRemotePerson(service))
  await service.end('SIGKILL')
  release()
  // As if the lease had expired, if the killed process had one.
  const storage = await reopenStorage(service.settings.DATABASE_URL, service.settings.DATA_DIR)
  await sql`
    update organization_domain_loss
    set mail_at = (mail_at at time zone 'UTC' - interval '1 hour') at time zone 'UTC'`.execute(storage.db)
  await storage.close()
  await service.restart()
  const { to, subject } = await mailbox.take()
  assert.deepEqual(to, [email])
  assert.match(subject, /killed\.example now belongs to another organization/)
})
