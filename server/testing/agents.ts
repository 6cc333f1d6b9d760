import assert from 'node:assert/strict'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { startDocumentHost } from './document-host.ts'
import { createWorld, newChallenge, postForm, postToken, type TestWorld } from './world.ts'

/** Default redirect URI of the apps. */
export const redirectUri = 'https://agent.example/callback'
const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')

export type Agents = Awaited<ReturnType<typeof openAgents>>

/** Opens a world that allows client metadata documents, a host for these, and a user who signs in to the apps. */
export async function openAgents(options: Parameters<typeof createWorld>[0] = {}) {
  const environment = { CLIENT_ID_METADATA_DOCUMENTS: 'on', ...options.environment }
  const [world, host] = await Promise.all([createWorld({ ...options, environment }), startDocumentHost()])
  const person = await world.person()
  let made = 0

  /** Publishes an app with a client metadata document at its own URL; the arguments change the document. */
  function agent(document: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
    const path = `/agent-${(made += 1)}.json`
    const clientId = asId<ClientId>(host.at(path))
    const serve = (changed: Record<string, unknown> = {}) => {
      const whole = {
        client_id: clientId,
        client_name: 'The agent',
        redirect_uris: [redirectUri],
        ...document,
        ...changed,
      }
      host.answer(path, { headers, body: JSON.stringify(whole) })
    }
    serve()
    const { verifier, challenge } = newChallenge()
    const input = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid profile offline_access' }
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    return {
      clientId,
      path,
      serve,
      fetches: () => host.requested.filter(({ url }) => url === path).length,
      async signIn(parameters: Record<string, string> = {}, at: TestWorld = world) {
        const query = new URLSearchParams({ ...input, ...pkce, ...parameters })
        const answer = await at.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
        return { status: answer.statusCode, location: answer.headers.location, view: viewIn(answer.body) }
      },
      consent: (requested: Record<string, unknown> = {}, { headers: signed, identityId } = person) =>
        world.api.inject({
          method: 'POST',
          url: '/api/oauth/authorize',
          headers: signed,
          payload: {
            ...{ clientId, redirectUri, identityId, scope: input.scope },
            ...{ codeChallenge: challenge, codeChallengeMethod: 'S256', ...requested },
          },
        }),
      redeem: (code: string, fields: Record<string, string> = {}) =>
        postToken(world.api, {
          ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri },
          ...{ code, code_verifier: verifier, ...fields },
        }),
      refresh: (refreshToken: string) =>
        postToken(world.api, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }),
      row: () => world.db.selectFrom('app').selectAll().where('client_id', '=', clientId).executeTakeFirst(),
      push: (fields: Record<string, string> = {}) =>
        postForm(world.api, '/api/oauth/par', { ...input, ...pkce, ...fields }),
      async tokens() {
        const given = await this.redeem(codeIn(await this.consent()))
        assert.equal(given.statusCode, 200, given.body)
        return given.json<{ access_token: string; refresh_token: string }>()
      },
    }
  }

  return {
    world,
    host,
    person,
    agent,
    close: () => Promise.all([world.close(), host.close()]),
  }
}

export function codeIn(answer: { statusCode: number; body: string; json: () => { redirectUrl: string } }): string {
  assert.equal(answer.statusCode, 200, answer.body)
  return new URL(answer.json().redirectUrl).searchParams.get('code') ?? ''
}
