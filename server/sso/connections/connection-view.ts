import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import type { ServerContext } from '#platform/module/services.ts'
import type { Connection, RuledConnection } from './connection.ts'
import { issuerOf, scimUrlOf, toSsoSettings } from './settings.ts'

/** Maps a connection to the view for members who manage SSO. */
export function toSsoConnection(
  { config: { baseUrl } }: ServerContext,
  connection: RuledConnection,
  { ssoConnectionId }: { ssoConnectionId: string | null },
): SsoConnection {
  const { connectionId, name, enabled, domains, testedAt, confirmedAt, createdAt, updatedAt } = connection
  return {
    connectionId,
    name,
    enabled,
    domains,
    ...toSsoSettings(baseUrl, connection),
    ...toScimSettings(baseUrl, connection),
    groupRules: connection.groupRules,
    testedAt: testedAt?.toISOString() ?? null,
    confirmedAt: confirmedAt?.toISOString() ?? null,
    inUse: connectionId === ssoConnectionId,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

/** Returns the SCIM base URL of a connection, if it has SCIM provisioning. */
function toScimSettings(baseUrl: URL, { connectionId, subjectBy, tokenCreatedAt }: Connection) {
  if (subjectBy === null || tokenCreatedAt === null) return {}
  return {
    scim: { baseUrl: scimUrlOf(baseUrl, connectionId), subjectBy, tokenCreatedAt: tokenCreatedAt.toISOString() },
  }
}

/**
 * Lists what a change of a connection changes, for those who sign it. The time of the last change stands for settings
 * and secrets, which are not readable.
 */
export function toFrom({ name, enabled, domains, settings, groupRules, updatedAt }: RuledConnection) {
  return { name, enabled, domains, groupRules, issuer: issuerOf(settings), updatedAt: updatedAt.toISOString() }
}
