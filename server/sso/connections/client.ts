import type { Database } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import type { OidcConnection } from '#sso/providers/oidc.ts'
import { callbackOf, type OidcSettings } from './settings.ts'
import * as store from './store.ts'

/** The secret of a client at an OpenID provider, as the database may have it. */
export function sealSecret(keyring: Keyring, connectionId: string, clientSecret: string): Promise<string> {
  return keyring.seal(sealOf(connectionId), clientSecret)
}

/** The client that a connection is at its OpenID provider. */
export async function openClient(
  { keyring, config }: Kernel,
  { connectionId, sealedSecret }: { connectionId: string; sealedSecret: string | null },
  { issuer, clientId }: OidcSettings,
): Promise<OidcConnection> {
  if (sealedSecret === null) throw new Error(`the connection ${connectionId} has no client secret`)
  const clientSecret = new Secret(await keyring.open(sealOf(connectionId), sealedSecret))
  return { issuer, clientId, clientSecret, callbackUrl: callbackOf(config.baseUrl, connectionId) }
}

/** Seals anew what another root than the first has sealed, so that the operator can let that one go. */
export async function resealClientSecrets({ db, keyring }: { db: Database; keyring: Keyring }): Promise<void> {
  for (const { connectionId, sealedSecret } of await store.listSealedSecrets(db)) {
    const sealed = await keyring.renew(sealOf(connectionId), sealedSecret)
    if (sealed !== sealedSecret) await store.replaceSealed(db, connectionId, sealedSecret, sealed)
  }
}

const sealOf = (connectionId: string) => `sso connection ${connectionId}`
