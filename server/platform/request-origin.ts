import { AsyncLocalStorage } from 'node:async_hooks'
import { isIPv4, isIPv6 } from 'node:net'

/** Where a request comes from. */
export type RequestOrigin = {
  requestId: string
  /** Network of the source address: a /24 of IPv4 or a /48 of IPv6. Null if the address is unknown. */
  network: string | null
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
  if (!isIPv6(address)) return null
  const [start = '', end] = address.split('::', 2)
  const [before, after] = [groupsOf(start), groupsOf(end ?? '')]
  const omitted = end === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array<string>(omitted).fill('0'), ...after].slice(0, 3)
  while (groups.at(-1) === '0') groups.pop()
  return `${groups.join(':')}::/48`
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':')
}
