import { limits } from '@countersign/protocol/formats/limits'
import { isLocal, type Config } from '#platform/config/config.ts'
import { hasPlainHost } from '#platform/origin.ts'

type Hosts = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl'>

/** Whether a client id is written as the address of a document. What is given out here never is. */
export function isAddress(clientId: string): boolean {
  return clientId.startsWith('https://') || clientId.startsWith('http://')
}

/**
 * Whether a client id is the address of a document from which an app may be known (OAuth Client ID Metadata Document
 * §3). It counts in one spelling alone, that of the URL standard: two that lead to the same place would be two apps, of
 * which one may look like another. That also leaves no dot segment, in any spelling, and no name but in ASCII. Our own
 * hosts are nobody's, and not to be kept busy with themselves.
 */
export function isDocumentUrl(clientId: string, { baseUrl, authUrl, businessUrl }: Hosts): boolean {
  if (!isAddress(clientId) || clientId.length > limits.clientIdCharactersMax) return false
  const url = URL.parse(clientId)
  if (url?.href !== clientId || !hasPlainHost(url)) return false
  if (url.protocol === 'http:' && !(isLocal(url) && isLocal(baseUrl))) return false
  if (url.username !== '' || url.password !== '' || clientId.includes('#')) return false
  if ([baseUrl, authUrl, businessUrl].some(({ origin }) => origin === url.origin)) return false
  return url.pathname !== '/' && !url.hostname.endsWith('.')
}
