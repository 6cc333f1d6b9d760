import assert from 'node:assert/strict'
import { startDocumentHost } from './document-host.ts'
import { createWorld, newChallenge, postForm, postToken, type World } from './world.ts'

/** Where the apps have their people sent back to, if not elsewhere. */
export const redirectUri = 'https://agent.example/callback'
const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')

export type Agents = Awaited<ReturnType<typeof openAgents>>

/** A world where apps may describe themselves, a host for their documents, and a person who signs in to them. */
export async function openAgents(options: Parameters<typeof createWorld>[0] = {}) {
  const environment = { CLIENT_ID_METADATA_DOCUMENTS: 'on', ...options.environment }
  const [world, host] = await Promise.all([createWorld({ ...options, environment }), startDocumentHost()])
  const person = await world.person()
  let made = 0

  /** An app that describes itself at an address of its own; what is given changes its document. */
  function agent(document: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
    const path = `/agent-${(made += 1)}.json`
    const clientId = host.at(path)
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
    const asked = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid profile offline_access' }
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    return {
      clientId,
      path,
      serve,
      fetches: () => host.asked.filter(({ url }) => url === path).length,
      async signIn(parameters: Record<string, string> = {}, at: World = world) {
        const query = new URLSearchParams({ ...asked, ...pkce, ...parameters })
        const answer = await at.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
        return { status: answer.statusCode, location: answer.headers.location, view: viewIn(answer.body) }
      },
      consent: (wanted: Record<string, unknown> = {}, { headers: signed, identityId } = person) =>
        world.api.inject({
          method: 'POST',
          url: '/api/oauth/authorize',
          headers: signed,
          payload: {
            ...{ clientId, redirectUri, identityId, scope: asked.scope },
            ...{ codeChallenge: challenge, codeChallengeMethod: 'S256', ...wanted },
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
        postForm(world.api, '/api/oauth/par', { ...asked, ...pkce, ...fields }),
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
