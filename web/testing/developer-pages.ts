/** Renders the developer pages with scripted responses of the service. */
import type { ResponseOf } from '@countersign/protocol/api'
import { asId, type ClientId } from '@countersign/protocol/ids'
import { h } from 'preact'
import { pageIdentity } from './organization-pages.ts'
import { renderScripted, type Script, type ScriptedPage } from './scripted-page.ts'

type OwnApp = ResponseOf<'GET /api/developer/apps'>['apps'][number]

const instant = '2030-01-01T12:00:00.000Z'

/** Returns an app of the developer, by its name. */
export function pageApp(name: string, other: Partial<OwnApp> = {}): OwnApp {
  return {
    ...{ version: '1', clientId: asId<ClientId>(`app_${name.toLowerCase()}`), name, description: null },
    ...{ iconUrl: null, color: null },
    ...{ websiteUrl: null, privacyUrl: null, termsUrl: null, supportsE2ee: false, appKeyRecipientJwk: null },
    ...{ allowedScopes: ['openid', 'profile'], redirectUris: ['https://ledger.example/callback'] },
    ...{ postLogoutRedirectUris: [], public: false, status: 'active', ownerIdentityId: null },
    ...{ idTokenSignedResponseAlg: 'ES256', accessTokenTtlSeconds: 3600, refreshTokenTtlSeconds: 3600 },
    ...{ requireAuthTime: false, idTokenClaims: true, requiredClaims: [], organizationAccess: 'create' },
    ...{ backchannelLogoutUri: null, backchannelLogoutSessionRequired: false, allowAnyLoopbackPort: false },
    access: { mode: 'everyone', groups: [], organizations: [], contact: null },
    groupsClaim: { include: 'assigned' },
    ...{ metadataFetchedAt: null, createdAt: instant, updatedAt: instant, lastSignInAt: null },
    ...other,
  }
}

/** Opens a view of the developer pages. The script answers before the session and an empty usage do. */
export async function openDeveloperPage(path: string, script: Script): Promise<ScriptedPage> {
  window.history.replaceState(null, '', path)
  const { Developers } = await import('../pages/developers/Developers.tsx')
  const { Refusals } = await import('../pages/developers/Refusals.tsx')
  return renderScripted(
    () => h(Refusals, { children: h(Developers, {}) }),
    (request) => {
      const answer = script(request)
      if (answer !== undefined) return answer
      if (request.name === 'GET /api/auth/session/current')
        return { session: { authMethod: 'passkey', user: { userId: 'user_1' }, identities: [pageIdentity('ada')] } }
      if (request.name.endsWith('/usage')) return { days: [], errors: [], lastSignInAt: instant }
      return undefined
    },
  )
}

/** Returns whether the browser would ask before the user leaves the page. */
export function asksBeforeUnload(): boolean {
  const event = document.createEvent('Event')
  event.initEvent('beforeunload', false, true)
  window.dispatchEvent(event)
  return event.defaultPrevented
}

/** Goes to another view as the back button does. */
export function goBackTo(path: string): void {
  window.history.replaceState(null, '', path)
  const event = document.createEvent('Event')
  event.initEvent('popstate', false, false)
  window.dispatchEvent(event)
}
