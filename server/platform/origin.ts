/** A name of letters, digits, hyphens, underscores and dots, or an address. URL parsers let it hold `;` and `,` too. */
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i

/**
 * Whether a host means nothing but itself wherever it is written: in a header, other characters would begin another
 * directive, or another source. Every address from outside is asked before it is kept.
 */
export function hasPlainHost({ hostname }: Pick<URL, 'hostname'>): boolean {
  return plainHost.test(hostname)
}

export function isPlainOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url?.origin === text && hasPlainHost(url)
}

/** Takes an origin for a header. That it is none is a fault of ours, which must not be written out. */
export function inHeader(origin: string): string {
  if (!isPlainOrigin(origin)) throw new Error('An origin that is none was to be written into a header')
  return origin
}
