/** The length that the service stores. */
export const urlLengthMax = 2000

/** Returns whether a text has only characters that a URL can have, so that what is stored is what is requested. */
export function isVisibleAscii(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** Returns whether a URL is on the device of the user, where plain http is safe. */
export function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || hostname.endsWith('.localhost')
}

/** Returns whether a URL has a host of letters, digits, hyphens and dots, and no username or password. */
export function hasPlainAuthority({ hostname, username, password }: URL): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(hostname) && username === '' && password === ''
}

/** Returns whether a text is a URL that the service accepts for a page of an app. */
export function isWebUrl(text: string): boolean {
  const url = isVisibleAscii(text) && text.length <= urlLengthMax ? URL.parse(text) : null
  if (!url || !hasPlainAuthority(url)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}

/** Returns whether a text is a URL that the service accepts for requests of its own, as far as a page can tell. */
export function isEndpointUrl(text: string): boolean {
  const url = isWebUrl(text) ? URL.parse(text) : null
  return url !== null && url.hash === '' && url.port !== '0'
}
