import type { ResponseOf } from '@countersign/protocol/api'
import type { Delegation } from '@countersign/protocol/oauth/delegations'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import { ask, registerRemoteApp, type createRemotePerson } from './remote-signer.ts'
import type { Served } from './service.ts'

type RemotePerson = Awaited<ReturnType<typeof createRemotePerson>>
export type Consent = { scope?: string; mode?: 'user_present' | 'background' }
type Authorized = ResponseOf<'POST /api/oauth/authorize'>

const redirectUri = 'https://app.example/callback'

/** Registers a resource at a running service, like its owner. */
export async function offerResource(service: Served, clientId: string, resourceKey: string) {
  const audience = `https://${resourceKey}.example/api`
  await ask(service, `/api/admin/apps/${clientId}/resources`, {
    headers: service.admin,
    json: { resourceKey, displayName: 'Calendar', scopes: ['calendar.read', 'calendar.write'], audience },
  })
  return { resourceKey, audience }
}

/** Registers an app that acts for users at the resources of others; `settings` are those of the SDK. */
export async function registerRemoteSource(service: Served) {
  const settings = await registerRemoteApp(service, redirectUri)
  const { clientId, clientSecret } = settings

  async function authorize({ headers, identityId }: RemotePerson, requested: object): Promise<string> {
    const json = { clientId, redirectUri, identityId, ...requested }
    const { redirectUrl } = await ask<Authorized>(service, '/api/oauth/authorize', { headers, json })
    return new URL(redirectUrl).searchParams.get('code') ?? ''
  }
  const redeem = (fields: Record<string, string>) =>
    ask<TokenResponse>(service, '/api/oauth/token', {
      json: { ...fields, client_id: clientId, client_secret: clientSecret },
    })

  return {
    settings,
    /** Returns the tokens of a complete sign-in. */
    async signIn(person: RemotePerson): Promise<TokenResponse> {
      const code = await authorize(person, { scope: 'openid profile offline_access' })
      return redeem({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
    },
    refresh: ({ refresh_token: token = '' }: TokenResponse) =>
      redeem({ grant_type: 'refresh_token', refresh_token: token }),
    /** Grants the app access to a resource as a user. */
    async connect(person: RemotePerson, resource: string, { scope = 'calendar.read', mode }: Consent = {}) {
      const input = { requestedResource: resource, requestedScope: scope, communicationMode: mode }
      await authorize(person, { connector: true, ...input })
    },
  }
}

/** Revokes all delegations of a user. */
export async function revokeDelegations({ baseUrl }: Served, { headers }: RemotePerson): Promise<void> {
  const listed = await fetch(`${baseUrl}/api/oauth/delegations`, { headers })
  const { delegations } = (await listed.json()) as { delegations: Delegation[] }
  for (const { id, status } of delegations) {
    if (status !== 'active') continue
    const ended = await fetch(`${baseUrl}/api/oauth/delegations/${id}`, { method: 'DELETE', headers })
    if (ended.status !== 204) throw new Error(`delegation not revoked: ${await ended.text()}`)
  }
}

export async function signOutRemotely(service: Served, { headers }: RemotePerson): Promise<void> {
  const ended = await fetch(`${service.baseUrl}/api/auth/session`, { method: 'DELETE', headers })
  if (!ended.ok) throw new Error(`session not ended: ${await ended.text()}`)
}
