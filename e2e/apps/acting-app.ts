import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ResponseOf } from '@countersign/protocol/api'
import type { AppChange, NewApp } from '@countersign/protocol/clients/apps'
import type { NewResource, ResourceChange } from '@countersign/protocol/clients/resources'
import type { Page } from 'playwright-core'
import type { Served } from '../../server/testing/service.ts'

export type ActingApp = Awaited<ReturnType<typeof openActingApp>>

type CallbackResult = { status: number; body: Partial<Record<string, string>> }

/** The actions that the calendar permits an app, in the words of the calendar. */
export const calendarWords = {
  'calendar.read': 'Read your events',
  'calendar.write': 'Add events, and change them',
}

/** An app on its own site that wants to act at the calendar of a second app, which is registered too. */
export async function openActingApp(service: Served, names = { source: 'Assistant', target: 'Calendar' }) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end('<!doctype html><html lang="en"><title>Assistant</title><h1>Assistant</h1></html>')
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the app has no port')
  const origin = `http://assistant.localhost:${address.port}`
  const redirectUri = `${origin}/callback`

  const asOperator = async <Given>(method: string, path: string, body: unknown): Promise<Given> => {
    const response = await fetch(`${service.baseUrl}/api/admin/apps${path}`, {
      method,
      headers: { ...service.admin, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as Given
  }
  const register = (app: NewApp) => asOperator<ResponseOf<'POST /api/admin/apps'>>('POST', '', app)
  const source = await register({ name: names.source, redirectUris: [redirectUri], websiteUrl: origin })
  const target = await register({
    name: names.target,
    redirectUris: ['https://calendar.example/callback'],
    websiteUrl: 'https://calendar.example',
  })
  const credentials = { client_id: source.clientId, client_secret: source.clientSecret ?? '' }
  const verifier = randomBytes(32).toString('base64url')

  async function ask(body: Record<string, string>): Promise<CallbackResult> {
    const sent = new URLSearchParams({ ...credentials, ...body })
    const response = await fetch(`${service.baseUrl}/api/oauth/token`, { method: 'POST', body: sent })
    return { status: response.status, body: (await response.json()) as CallbackResult['body'] }
  }

  return {
    origin,
    source,
    target,
    /** Makes the second app offer a resource. */
    offer: (resource: NewResource) => asOperator<unknown>('POST', `/${target.clientId}/resources`, resource),
    change: (resourceKey: string, change: ResourceChange) =>
      asOperator<unknown>('PATCH', `/${target.clientId}/resources/${resourceKey}`, change),
    /** Sets who may use the second app. */
    setAccess: (access: AppChange['access']) => asOperator<unknown>('PATCH', `/${target.clientId}`, { access }),
    connectUrl: (requested: Record<string, string> = {}) =>
      `${service.authUrl}/connect?${new URLSearchParams({
        client_id: source.clientId,
        redirect_uri: redirectUri,
        resource: 'calendar',
        scope: 'calendar.read',
        state: 'from-assistant',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...requested,
      })}`,
    /** Returns the response that the browser brought. */
    async answerIn(page: Page): Promise<Record<string, string>> {
      await page.waitForURL((url) => url.origin === origin)
      return Object.fromEntries(new URL(page.url()).searchParams)
    },
    redeem: (code: string) =>
      ask({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }),
    /** Exchanges the app's own token for a delegated token of the other app. */
    exchange: (accessTokenJwt: string, requested: Record<string, string> = {}) =>
      ask({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: accessTokenJwt,
        resource: 'calendar',
        ...requested,
      }),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** The calendar, as the second app offers it. */
export const calendar: NewResource = {
  resourceKey: 'calendar',
  displayName: 'Your events',
  scopes: [...Object.keys(calendarWords), 'calendar.delete'],
  scopeDescriptions: calendarWords,
  audience: 'https://api.calendar.example',
}
