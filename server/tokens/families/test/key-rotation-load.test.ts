import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify, type JWTVerifyGetKey } from 'jose'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let keySetUrl: URL
before(async () => {
  world = await createWorld()
  keySetUrl = new URL('/.well-known/jwks.json', await world.auth.listen({ port: 0, host: '127.0.0.1' }))
})
after(() => world.close())

const issuer = 'http://localhost:4401'

/** Verifies tokens like a relying party that caches the key set for the maximum time and never reads it earlier. */
function relyingParty() {
  let keys: JWTVerifyGetKey | undefined
  let readAt = 0
  return async (jwt: string, audience: string) => {
    const now = world.now().getTime()
    if (!keys || now - readAt >= 3600_000) {
      keys = createRemoteJWKSet(keySetUrl, { cooldownDuration: Infinity, cacheMaxAge: Infinity })
      readAt = now
    }
    await jwtVerify(jwt, keys, { issuer, audience, currentDate: world.now() })
  }
}

const algorithms = ['RS256', 'ES256', 'EdDSA'] as const

test('JWT-13 every token verifies while keys rotate under load, however old the cached key set is', async () => {
  const person: Person = await world.person()
  const apps: TestApp[] = await Promise.all(algorithms.map((alg) => world.app({ idTokenSignedResponseAlg: alg })))
  const parties: ReturnType<typeof relyingParty>[] = []
  const used = new Set<string>()
  let living: { jwt: string; audience: string; expiresAt: number }[] = []
  let verified = 0

  const refreshed = await Promise.all(
    apps.map(async (app) => ({ app, token: (await app.tokens(person)).refresh_token })),
  )
  for (let minutes = 0; minutes < 6 * 60; minutes += 12) {
    if (minutes === 60) {
      const rotated = { method: 'POST', url: '/api/admin/keys/rotate', headers: world.admin } as const
      assert.equal((await world.api.inject(rotated)).statusCode, 201)
    }
    if (minutes < 60) parties.push(relyingParty())
    for (const session of refreshed) {
      const answers = await Promise.all([1, 2, 3].map(() => session.app.refresh(session.token)))
      const tokens = answers.map((answer) => answer.json())
      session.token = tokens[0].refresh_token
      for (const { id_token: idToken, access_token_jwt: accessJwt } of tokens) {
        const expiresAt = world.now().getTime() + 3600_000
        living.push(
          { jwt: idToken, audience: session.app.clientId, expiresAt },
          { jwt: accessJwt, audience: issuer, expiresAt },
        )
        used.add(decodeProtectedHeader(idToken).kid ?? '')
      }
    }
    living = living.filter(({ expiresAt }) => expiresAt > world.now().getTime())
    const sample = living.filter((_, nth) => nth % 5 === (minutes / 12) % 5 || nth > living.length - 18)
    await Promise.all(parties.flatMap((verify) => sample.map(({ jwt, audience }) => verify(jwt, audience))))
    verified += parties.length * sample.length
    world.pass(12 * 60)
  }
  assert.equal(used.size, 6, 'keys of both sets signed tokens')
  assert.ok(verified > 2000, `${verified}`)
})
