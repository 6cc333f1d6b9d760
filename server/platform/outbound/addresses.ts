import type { LookupAddress } from 'node:dns'
import { BlockList, type LookupFunction, isIP } from 'node:net'
import { type Config, isLocal } from '#platform/config/config.ts'
import { hasPlainHost } from '#platform/origin.ts'

/**
 * A failed request with its reason as one word: a code of Node (`ECONNREFUSED`), `address_not_allowed`, `timed_out`,
 * `status_404` or `too_large`. The reason is for the log only: disclosed to the author of the URL, it would turn the
 * service into a port scanner.
 */
export class OutboundError extends Error {
  readonly reason: string

  constructor(reason: string, options?: ErrorOptions) {
    super(`no usable response: ${reason}`, options)
    this.reason = reason
  }
}

/** Special-purpose addresses of the IANA registries, and 6to4, which leads into IPv4. */
const special4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
const special6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

const special = new BlockList()
addSubnets(special4, 'ipv4')
addSubnets(special6, 'ipv6')
/** All other IPv6 addresses are loopback, local, multicast, reserved, or embed IPv4. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

function addSubnets(written: string, family: 'ipv4' | 'ipv6'): void {
  for (const subnet of written.split(' ')) {
    const [network = '', bits] = subnet.split('/')
    special.addSubnet(network, Number(bits), family)
  }
}

/** Checks whether an IP address, as a resolver formats it, is public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      // An address with a zone is local to a link.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

/** Who has named a host: an operator in OUTBOUND_NETWORKS or elsewhere, or anyone. On localhost, all are operators. */
type NamedBy = 'list' | 'operator' | 'anyone'
/** Where a connection may lead: to which addresses, and who has named the host. */
export type Destination = { isAllowed: (address: string) => boolean; namedBy: NamedBy }

/** Resolves a name to all its addresses, until the signal of the request ends the lookup. */
export type Resolver = (
  hostname: string,
  options: { namedBy: NamedBy; signal: AbortSignal },
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void

/** Returns where URLs of anyone may lead, and those of operators. */
export function destinationsOf({ baseUrl, outboundNetworks }: Pick<Config, 'baseUrl' | 'outboundNetworks'>) {
  const isOnLocalhost = isLocal(baseUrl)
  const isAllowed = isOnLocalhost ? () => true : isPublicAddress
  return {
    ofAnyone: (): Destination => ({ isAllowed, namedBy: isOnLocalhost ? 'operator' : 'anyone' }),
    ofOperator: (url: URL): Destination =>
      isListed(url, outboundNetworks) ? { isAllowed: () => true, namedBy: 'list' } : { isAllowed, namedBy: 'operator' },
  }
}

function oddityOf(url: URL): string | undefined {
  if (!hasPlainHost(url)) return 'must have a host of letters, digits, hyphens and dots'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  if (url.hash !== '') return 'must not have a fragment'
  return url.port === '0' ? 'must have a port above 0' : undefined
}

/** Returns what is wrong with a URL, as the end of a sentence, or undefined. It does not resolve names. */
export function objectionOf(text: string, isAllowed: (address: string) => boolean): string | undefined {
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal(url)))
    return 'must start with https://, or http:// on localhost'
  const oddity = oddityOf(url)
  if (oddity) return oddity
  const host = hostOf(url)
  // A trailing dot does not change a host name (RFC 1034 §3.1).
  const isThisMachine = isLocal({ hostname: url.hostname.replace(/\.$/, '') })
  const isRefused = isIP(host) === 0 ? isThisMachine && !isAllowed('127.0.0.1') : !isAllowed(host)
  return isRefused ? 'must not lead to a private address' : undefined
}

/** Resolves a name and returns no address if any of them is not allowed, because its owner controls all of them. */
export function lookupAllowed(
  resolveName: Resolver,
  { isAllowed, namedBy }: Destination,
  signal: AbortSignal,
): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { namedBy, signal }, (error, found) => {
      if (error) return callback(error, '')
      const [first] = found
      if (!first || !found.every(({ address }) => isAllowed(address)))
        return callback(new OutboundError('address_not_allowed'), '')
      return options.all ? callback(null, found) : callback(null, first.address, first.family)
    })
  }
}

/** Checks whether OUTBOUND_NETWORKS lists the host and port of a URL. */
function isListed(url: URL, outboundNetworks: readonly string[]): boolean {
  return outboundNetworks.includes(`${url.hostname}:${portOf(url)}`)
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port)
}

/** Returns the host of a URL, an IPv6 address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '')
}

/** Returns the reason of an error, as one word. */
export function reasonOf(error: unknown): string {
  if (error instanceof OutboundError) return error.reason
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed'
}
