/** What a person may recognise of an address: the host of a website, the scheme that an installed app listens to. */
export function placeOf(address: string): string {
  const url = URL.parse(address)
  if (!url) return address
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.protocol.slice(0, -1)
}
