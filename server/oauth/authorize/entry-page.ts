import { asId, type ClientId } from '@countersign/protocol/ids'
import type { RequestingApp } from '@countersign/protocol/pages'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { isClientIdUrl } from '#clients/registration/metadata-documents/metadata-document.ts'

/**
 * Returns the app of the authorization request to which a user returns after sign-in, registration or recovery, or
 * undefined if they return elsewhere. An unverified app is named by its host alone, so that nothing is fetched here.
 */
export async function findRequestingApp(
  apps: Pick<AppDirectory, 'find'>,
  returnTo: unknown,
  authOrigin: string,
): Promise<RequestingApp | undefined> {
  const url = typeof returnTo === 'string' ? URL.parse(returnTo, authOrigin) : null
  if (url?.origin !== authOrigin || !/^\/(signin|connect)$/.test(url.pathname)) return undefined
  const [clientId = '', ...others] = url.searchParams.getAll('client_id')
  if (others.length > 0) return undefined
  if (isClientIdUrl(clientId)) return { name: URL.parse(clientId)?.host ?? clientId, iconUrl: null }
  const app = await apps.find(asId<ClientId>(clientId))
  return app && { name: app.name, iconUrl: app.iconUrl }
}
