/**
 * Matches a host of letters, digits, hyphens, underscores and dots, or an IP address. URL parsers also accept `;` and
 * `,`.
 */
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i

/**
 * Checks whether a host is safe in a header, where other characters would start another directive or source. Every
 * external URL is checked before it is stored.
 */
export function hasPlainHost({ hostname }: Pick<URL, 'hostname'>): boolean {
  return plainHost.test(hostname)
}

export function isPlainOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url?.origin === text && hasPlainHost(url)
}

/** Returns an origin for use in a header. Throws for other text, which would be a fault of the server. */
export function inHeader(origin: string): string {
  if (!isPlainOrigin(origin)) throw new Error('header value is not an origin')
  return origin
}
