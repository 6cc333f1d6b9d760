import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import type { ServerContext } from '#platform/module/services.ts'
import type { Connection } from './connection.ts'
import { scimUrlOf, toSsoSettings } from './settings.ts'

/** Maps a connection to the view for members who manage SSO. */
export function toSsoConnection(
  { config: { baseUrl } }: ServerContext,
  connection: Connection,
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
