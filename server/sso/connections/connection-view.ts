import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import type { Kernel } from '#platform/module/services.ts'
import type { Connection } from './connection.ts'
import { scimUrlOf } from '#sso/provisioning/scim.ts'
import { tellSettings } from './settings.ts'

/** A connection, as those see it who look after it. */
export function tellConnection(
  { config: { baseUrl } }: Kernel,
  connection: Connection,
  { ssoConnectionId }: { ssoConnectionId: string | null },
): SsoConnection {
  const { connectionId, name, enabled, domains, testedAt, confirmedAt, createdAt, updatedAt } = connection
  return {
    connectionId,
    name,
    enabled,
    domains,
    ...tellSettings(baseUrl, connection),
    ...tellDirectory(baseUrl, connection),
    testedAt: testedAt?.toISOString() ?? null,
    confirmedAt: confirmedAt?.toISOString() ?? null,
    inUse: connectionId === ssoConnectionId,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

/** Where its directory finds us, where one says who may come by it. */
function tellDirectory(baseUrl: URL, { connectionId, subjectBy, tokenCreatedAt }: Connection) {
  if (subjectBy === null || tokenCreatedAt === null) return {}
  return {
    scim: { baseUrl: scimUrlOf(baseUrl, connectionId), subjectBy, tokenCreatedAt: tokenCreatedAt.toISOString() },
  }
}
