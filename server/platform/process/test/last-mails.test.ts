import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { codeIn, openMailbox } from '#testing/mailbox.ts'
import { createRemotePerson } from '#testing/remote-signer.ts'
import { startService } from '#testing/service.ts'

/** Resolves when nothing listens at a URL. */
async function untilDeaf(url: string): Promise<void> {
  for (const { port, hostname } = new URL(url); ; await pause(20)) {
    const socket = connect(Number(port), hostname)
    const isRefused = await once(socket, 'connect').then(
      () => false,
      () => true,
    )
    socket.destroy()
    if (isRefused) return
  }
}

test('AUD-07 a service that ends sends the mails first for which no request waited', async (t) => {
  const mailbox = await openMailbox()
  t.after(() => mailbox.close())
  const service = await startService({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  t.after(() => service.close())
  const owner = await createRemotePerson(service)
  const send = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(answer.ok, await answer.text())
  }
  const email = 'owner@example.com'
  await send(`/api/identities/${owner.identityId}/email`, owner.headers, { email })
  const code = codeIn(await mailbox.take())
  await send(`/api/identities/${owner.identityId}/email/verify`, owner.headers, { code })
  await send('/api/admin/operators', service.admin, { handle: owner.handle, role: 'owner' })

  const release = mailbox.hold(email)
  const sink = { key: 'siem', kind: 'syslog', url: 'tls://siem.example.com:6514' }
  await send('/api/admin/sinks', service.admin, sink)
  const ended = service.end('SIGTERM')
  await untilDeaf(service.baseUrl)
  release()
  assert.equal(await ended, 0)
  const subjects = Array.from({ length: mailbox.count() }, () => mailbox.take())
  const received = await Promise.all(subjects)
  assert.ok(received.some(({ subject, to }) => to.includes(email) && /audit log/i.test(subject)))
})
