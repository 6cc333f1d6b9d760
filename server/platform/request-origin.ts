import { AsyncLocalStorage } from 'node:async_hooks'
import { isIPv4 } from 'node:net'

/** Where a request comes from. */
export type RequestOrigin = {
  requestId: string
  /** Network of the source address: a /24 of IPv4 or a /48 of IPv6. Null if the address is unknown. */
  network: string | null
  /** First identity that an event of this request names. */
  identityId?: string
}

const origins = new AsyncLocalStorage<RequestOrigin>()

/** Runs what a request does, so that `currentOrigin` returns where it comes from. */
export function runFrom(origin: RequestOrigin, run: () => void): void {
  if (origins.getStore() === origin) run()
  else origins.run(origin, run)
}

/** Returns where the present request comes from. Returns undefined outside a request. */
export function currentOrigin(): RequestOrigin | undefined {
  return origins.getStore()
}

/** Returns the network of a source address (`sourceAddress`), or null for text that is none. */
export function networkOf(address: string): string | null {
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  if (!address.includes(':')) return null
  const [start = ''] = address.split('::', 1)
  const groups = start.split(':').slice(0, 3)
  while (groups.length > 0 && /^0*$/.test(groups.at(-1) ?? '')) groups.pop()
  return `${groups.join(':')}::/48`
}
