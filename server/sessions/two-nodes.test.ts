import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthenticator } from '#testing/authenticator.ts'
import { startBeside, startService } from '#testing/service.ts'

// Two nodes share a PostgreSQL; nobody shares the embedded database.
if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('SES-06 a session that ends on one node is refused at once by another', async (t) => {
    const service = await startService()
    t.after(() => service.close())
    const nodes = [service.baseUrl, (await startBeside(t, service)).baseUrl]
    const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
    const post = async (base: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${base}/api/auth/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.ok(answer.ok, `${path}: ${answer.status}`)
      return JSON.parse(await answer.text())
    }
    const registering = await post(service.baseUrl, 'register/start', { handle: 'ada-here', displayName: 'Ada' })
    const registration = authenticator.register(registering.options)
    await post(service.baseUrl, 'register/finish', { flowId: registering.flowId, credential: registration })
    const signIn = async (): Promise<Record<string, string>> => {
      const { flowId, options } = await post(service.baseUrl, 'login/start', {})
      const finish = { flowId, credential: authenticator.authenticate(options) }
      return { authorization: `Bearer ${(await post(service.baseUrl, 'login/finish', finish)).sessionToken}` }
    }
    const status = async (base: string, headers: Record<string, string>) =>
      (await fetch(`${base}/api/auth/session`, { headers })).status

    for (const [ending, asked] of [nodes, nodes.toReversed()])
      for (let round = 0; round < 5; round += 1) {
        const headers = await signIn()
        // Whatever a node might keep of a session, it has it now.
        for (const base of nodes) assert.equal(await status(base, headers), 200)
        const ended = await fetch(`${ending}/api/auth/session`, { method: 'DELETE', headers })
        assert.equal(ended.status, 204)
        assert.equal(await status(asked ?? '', headers), 401)
      }
  })
