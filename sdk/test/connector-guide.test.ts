import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort, layOut, run } from '../../e2e/fixtures/guide.ts'
import { offerResource, registerRemoteSource, revokeDelegations } from '../../server/testing/remote-connector.ts'
import { createRemotePerson, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import { createCountersign } from '../src/server/server.ts'

const root = join(import.meta.dirname, '../..')
const runFile = promisify(execFile)
const guide = (name: string) => readFile(join(root, `docs/guides/${name}.md`), 'utf8')

let service: Served
let target: Awaited<ReturnType<typeof layOut>>
let source: Awaited<ReturnType<typeof layOut>>
let assistant: Awaited<ReturnType<typeof registerRemoteSource>>
let audience: string
before(async () => {
  await runFile(process.execPath, [join(root, 'sdk/build.ts')])
  service = await serveHere()
  const { clientId } = await registerRemoteApp(service)
  audience = (await offerResource(service, clientId, 'calendar')).audience
  assistant = await registerRemoteSource(service)
  target = await layOut(await guide('protect-a-resource'))
  source = await layOut(await guide('request-delegated-access'))
})
after(async () => {
  await service.close()
  await Promise.all([target.remove(), source.remove()])
})

/** Runs a program of the guide for source apps; returns its output. */
async function act(program: string, environment: Record<string, string>): Promise<string> {
  const { baseUrl, authUrl, clientId, clientSecret } = assistant.settings
  const own = { BASE_URL: baseUrl, ISSUER: authUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
  const { stdout } = await runFile(process.execPath, [program], {
    cwd: source.directory,
    env: { ...own, ...environment },
  })
  return stdout.trim()
}

for (const program of ['fastify', 'express', 'plain'])
  test(`${program}: the guides' programs act only where a user lets them, within scope and time`, async (t) => {
    const port = await freePort()
    const origin = `http://localhost:${port}`
    const environment = { ISSUER: service.authUrl, AUDIENCE: audience, PORT: String(port), APP_URL: origin }
    const calendar = await run(target.directory, `${program}.mjs`, environment)
    t.after(() => calendar.close())
    const url = `${origin}/api/events`
    const anonymous = await fetch(url)
    assert.equal(anonymous.status, 401)
    assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Bearer /)

    const person = await createRemotePerson(service)
    const { access_token_jwt: subjectToken } = await assistant.signIn(person)
    const call = () => act('act.mjs', { SUBJECT_TOKEN: subjectToken, CALENDAR_URL: url })
    await assert.rejects(call(), /access_denied/)
    await assistant.connect(person, 'calendar')
    assert.equal(await call(), `200 ${JSON.stringify({ of: person.identityId, events: [] })}`)

    const token = await createCountersign(assistant.settings).exchangeForResource({
      subjectToken,
      resource: 'calendar',
    })
    const write = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token.accessToken}` } })
    assert.equal(write.status, 403)
    assert.match(write.headers.get('www-authenticate') ?? '', /insufficient_scope.*calendar\.write/)

    await revokeDelegations(service, person)
    await assert.rejects(call(), /access_denied/)
  })

test('the guide sends users to the consent page', async () => {
  const { identityId } = await createRemotePerson(service)
  const said = await act('connect.mjs', { IDENTITY_ID: identityId })
  const address = new URL(said.replace('Send the person here: ', ''))
  assert.equal(address.origin + address.pathname, `${service.authUrl}/connect`)
  assert.equal(address.searchParams.get('identity_id'), identityId)
})
