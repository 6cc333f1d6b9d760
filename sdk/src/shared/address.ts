/** The address of a host of the service. What travels there is nobody else's to read or to alter. */
export function addressOf(name: string, text: string): URL {
  const url = new URL(text)
  const isHere = url.protocol === 'http:' && /^(?:(?:[\w-]+\.)*localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !isHere) throw new TypeError(`${name} begins with https:, or is on localhost`)
  return url
}
