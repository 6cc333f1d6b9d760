import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AccountExport } from '@countersign/protocol/account'
import type { App } from '@countersign/protocol/apps'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createWorld, type World } from '#testing/world.ts'

let mailbox: Mailbox
let world: World
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

test('the export is a file with everything that a person has here, and with no secret', async () => {
  const person = await world.person('exporter')
  const stranger = await world.person()
  const identity = `/api/identities/${person.identityId}`
  const post = (url: string, payload: object) =>
    world.api.inject({ method: 'POST', url, headers: person.headers, payload })
  await post(`${identity}/email`, { email: 'ada@example.com' })
  await post(`${identity}/email/verify`, { code: codeIn(await mailbox.take()) })
  await post(`${identity}/email`, { email: 'next@example.com' })
  const code = codeIn(await mailbox.take())
  await world.api.inject({ method: 'PATCH', url: identity, headers: person.headers, payload: { handle: 'exported' } })
  const app = await world.app({ name: 'The Shop' })
  const tokens = await app.tokens(person)
  const own = await post('/api/developer/apps', { name: 'Ledger', redirectUris: ['https://ledger.example/'] })

  const answer = await world.api.inject({ url: '/api/account/export', headers: person.headers })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['content-disposition'], 'attachment; filename="countersign-account.json"')
  const exported = answer.json<AccountExport>()
  assert.equal(exported.user.userId, person.userId)
  const [first] = exported.identities
  assert.deepEqual(
    [first?.handle, first?.email, first?.unprovedEmail],
    ['exported', 'ada@example.com', 'next@example.com'],
  )
  const keptUntil = new Date(world.now().getTime() + 90 * 24 * 3600_000).toISOString()
  assert.deepEqual(first?.formerHandles, [{ handle: 'exporter', keptUntil }])
  assert.deepEqual(
    first?.grants.map(({ clientId, ended }) => [clientId, ended]),
    [[app.clientId, false]],
  )
  assert.deepEqual([exported.passkeys.length, exported.sessions.length], [1, 1])
  assert.equal(exported.authorizations[0]?.appName, 'The Shop')
  assert.deepEqual(exported.activity.map(({ action }) => action).toReversed(), [
    'account.registered',
    'identity.email_asked',
    'identity.email_verified',
    'identity.email_asked',
    'identity.handle_changed',
    'app.authorized',
    'app.created',
  ])
  const { clientSecret: ownSecret, ...settings } = own.json<App & { clientSecret: string }>()
  assert.deepEqual(exported.apps, [settings], 'the app that they registered, and not the one they use')
  const secrets = [person.sessionToken, tokens.access_token, tokens.refresh_token, app.clientSecret, ownSecret, code]
  for (const hidden of [...secrets, stranger.userId, stranger.handle])
    assert.ok(!answer.body.includes(hidden), hidden.slice(0, 12))
  assert.doesNotMatch(answer.body, /sha256|mac/i)
})
