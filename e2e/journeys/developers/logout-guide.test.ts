import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import { startLogoutSender } from '../../../server/oauth/logout/sender.ts'
import { createWorld, type TestWorld } from '../../../server/testing/world.ts'
import { loadTokenSigningKeys } from '../../../server/tokens/signing-keys/signing-keys.ts'
import { freePort, layOut, run } from '../../fixtures/guide.ts'

/** Serves the keys of a provider, as soon as `provide` is called. Returns their address. */
async function serveKeys(t: TestContext, { auth }: TestWorld) {
  let isAway = true
  const server = createServer((_request, response) => {
    if (isAway) return void response.writeHead(502).end()
    void auth.inject('/.well-known/jwks.json').then(({ body }) => response.end(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return { url: `http://127.0.0.1:${address.port}/`, provide: () => void (isAway = false) }
}

/** Starts the code of the guide, with sessions whose store fails at first. It prints the status of each response. */
async function startGuide(t: TestContext, keysUrl: string, environment: Record<string, string>) {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/guides/back-channel-logout.md'), 'utf8')
  const [, handler = ''] = /^```js\n(app\.post\([\s\S]*?)^```$/m.exec(guide) ?? []
  const code = `import express from 'express'
    import { isInvalidToken, readLogoutToken } from './logout.mjs'
    const app = express()
    let isStoreAway = true
    const sessions = {
      async endBySid(sid) {
        if (isStoreAway) throw (isStoreAway = false, new Error('The store is away.'))
        console.log('ended ' + sid)
      },
    }
    app.use((request, response, next) => {
      response.on('finish', () => request.method === 'POST' && console.log(String(response.statusCode)))
      next()
    })
    ${handler}
    app.listen(process.env.PORT)`
  const withKeys = guide.replace('`${issuer}/.well-known/jwks.json`', JSON.stringify(keysUrl))
  assert.notEqual(withKeys, guide)
  const { directory, remove } = await layOut(withKeys, { path: 'app.mjs', code })
  t.after(remove)
  const app = await run(directory, 'app.mjs', environment)
  t.after(() => app.close())
  const lines = createInterface(app.stdout)[Symbol.asyncIterator]()
  return async () => String((await lines.next()).value)
}

/** Starts sending logout tokens. `passUntilNext` lets time pass, from when the outcome of an attempt is stored. */
async function startSender(t: TestContext, { kernel, pass }: TestWorld) {
  const keys = await loadTokenSigningKeys(kernel)
  let sender = startLogoutSender({ kernel, keys })
  t.after(() => sender.stop())
  return {
    async passUntilNext(seconds: number) {
      // Waits for the attempt: the app prints its response before the sender reads that.
      await sender.stop()
      pass(seconds)
      sender = startLogoutSender({ kernel, keys })
    },
  }
}

test('BCL-15 the code of the guide ends a session after a fault of its store or of the keys', async (t) => {
  const world = await createWorld({ startedAt: new Date() })
  t.after(() => world.close())
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const [keys, person] = [await serveKeys(t, world), await world.person()]
  const app = await world.app({ backchannelLogoutUri: `${origin}/backchannel-logout` })
  const { id_token: idToken = '' } = await app.tokens(person, { scope: 'openid' })
  const nextLine = await startGuide(t, keys.url, { CLIENT_ID: app.clientId, PORT: String(port), APP_URL: origin })

  const sender = await startSender(t, world)
  const { headers } = person
  assert.equal((await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers })).statusCode, 204)
  assert.equal(await nextLine(), '503', 'the keys cannot be fetched')
  keys.provide()
  await sender.passUntilNext(30)
  assert.equal(await nextLine(), '503', 'the store fails')
  await sender.passUntilNext(3600)
  assert.equal(await nextLine(), `ended ${String(decodeJwt(idToken)['sid'])}`)
  assert.equal(await nextLine(), '200')

  const foreign = new URLSearchParams({ logout_token: idToken })
  for (const body of [foreign, new URLSearchParams({ logout_token: 'none' }), new URLSearchParams()]) {
    const refused = await fetch(`${origin}/backchannel-logout`, { method: 'POST', body })
    assert.deepEqual([refused.status, await refused.json()], [400, { error: 'invalid_request' }])
    assert.equal(await nextLine(), '400')
  }
})
