import type { Delegation } from '@countersign/protocol/oauth/delegations'
import type { Connector } from '@countersign/protocol/pages'
import { type ClientId, type IdentityId, asId } from '@countersign/protocol/ids'

const instant = '2026-01-01T00:00:00.000Z'

/** What an assistant requests at a calendar, for tests. */
export function connectorOf(given: Partial<Connector> = {}): Connector {
  return {
    resourceId: '01a1fff8-329f-7b2b-939b-3550e0765a21',
    resourceKey: 'calendar',
    displayName: 'Calendar',
    description: null,
    audience: 'https://calendar.example',
    owner: { clientId: asId<ClientId>('app_calendar'), name: 'Calendar', iconUrl: null, websiteUrl: null },
    scopes: [],
    mode: 'user_present',
    withdrawn: {
      invalid_target: { url: 'https://assistant.example/?error=invalid_target' },
      invalid_scope: { url: 'https://assistant.example/?error=invalid_scope' },
    },
    ...given,
  }
}

/** What an assistant may do at a calendar, for tests. */
export function delegationOf(given: Partial<Delegation> = {}): Delegation {
  return {
    id: 'delegation-1',
    identityId: asId<IdentityId>('id-of-ada'),
    sourceAppClientId: asId<ClientId>('app_assistant'),
    sourceAppName: 'Assistant',
    sourceAppIconUrl: null,
    sourceAppWebsiteUrl: null,
    targetResourceKey: 'calendar',
    targetResourceName: 'Calendar',
    targetAudience: 'https://calendar.example',
    targetAppClientId: asId<ClientId>('app_calendar'),
    targetAppName: 'Calendar',
    scope: 'calendar.read',
    scopeDescriptions: {},
    communicationMode: 'user_present',
    status: 'active',
    createdAt: instant,
    updatedAt: instant,
    revokedAt: null,
    lastUsedAt: null,
    ...given,
  }
}
