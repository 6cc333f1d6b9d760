import { BlockList, isIP, isIPv4, isIPv6, SocketAddress, type Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** `TRUST_PROXY`: the number of proxies that are trusted, their networks, or none. */
export type TrustProxy = number | string[] | false

/** Addresses of a request: the connected one, then those that trusted proxies have named. */
type Origin = Pick<FastifyRequest, 'ip'> & Partial<Pick<FastifyRequest, 'ips'>>

/**
 * Returns the source address of a request: IPv4 in dots, or IPv6 as in RFC 5952, without port and zone. If a trusted
 * proxy named something that is not an IP address, it is the proxy's own address. No other module reads `request.ip`,
 * which is the unparsed header; `tools/tidy.ts` checks that.
 */
export function sourceAddress({ ip, ips = [ip] }: Origin): string {
  return ips.map(parseAddress).findLast((address) => address !== undefined) ?? 'unknown'
}

const stranger = 'X-Forwarded-For from an untrusted address is ignored'
const misnamed = 'X-Forwarded-For from a trusted proxy contains no IP address: its requests count as its own'

/** Returns what is wrong with the X-Forwarded-For of a request, for the log. */
export function objectionToForwarding(request: Origin & Pick<FastifyRequest, 'headers'>): string | undefined {
  const header = request.headers['x-forwarded-for']
  if (header === undefined || !/[^ \t,]/.test(String(header))) return undefined
  // The connected address, and those that it may name.
  const { ips = [] } = request
  if (ips.length < 2) return stranger
  return parseAddress(ips.at(-1)) === undefined ? misnamed : undefined
}

/**
 * Returns which proxy addresses are trusted, by `TRUST_PROXY`: a number of hops, or networks. Text that is not an IP
 * address is never trusted, because its meaning is unknown.
 */
export function trustOf(setting: TrustProxy): false | ((written: string, hop: number) => boolean) {
  if (setting === false) return false
  if (typeof setting === 'number') return (written, hop) => hop < setting && parseAddress(written) !== undefined
  const networks = blockListOf(setting)
  return (written) => {
    const address = parseAddress(written)
    return address !== undefined && networks.check(address, familyOf(address))
  }
}

/** Checks whether a source address is in one of some networks. Every address is if there are none. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  if (networks.length === 0) return true
  return isIP(address) !== 0 && blockListOf(networks).check(address, familyOf(address))
}

function blockListOf(written: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const each of written) {
    const network = parseNetwork(each)
    if (!network) throw new TypeError(`${each} is not a network`)
    networks.addSubnet(network.address, network.bits, familyOf(network.address))
  }
  return networks
}

type Connected = Pick<Socket, 'remoteAddress'>
type Trust = ReturnType<typeof trustOf>

/** Checks whether a trusted proxy has connected. */
export function isTrustedProxy({ remoteAddress }: Connected, trust: Trust): boolean {
  return remoteAddress !== undefined && trust !== false && trust(remoteAddress, 0)
}

/**
 * Returns the connected address that counts for its network. Returns undefined for a trusted proxy, which connects for
 * many clients, and for this machine.
 */
export function connectedAddress(connected: Connected, trust: Trust) {
  const address = isTrustedProxy(connected, trust) ? undefined : parseAddress(connected.remoteAddress)
  return address === '127.0.0.1' || address === '::1' ? undefined : address
}

/** What proxies and tunnels add to the requests that they pass on. */
const forwardingHeaders = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-server'],
  ...['x-original-host', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip', 'cf-ray', 'fly-client-ip'],
]

/**
 * Checks whether a program on this machine sent a request itself: over a loopback address, to a local name, and not for
 * another machine. `TRUST_PROXY` does not matter, because a proxy of this machine speaks for others.
 */
export function isSentFromThisMachine({ headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>): boolean {
  const address = parseAddress(raw.socket.remoteAddress)
  const isLoopback = address === '::1' || address?.startsWith('127.') === true
  const named = URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? ''
  const isLocalName = /^(?:(?:[\w-]+\.)*localhost|127\.0\.0\.1|\[::1\])$/.test(named)
  return isLoopback && isLocalName && forwardingHeaders.every((name) => headers[name] === undefined)
}

/**
 * Parses an address, or a network as its first address and a prefix length above 0. Returns undefined for other text.
 */
export function parseNetwork(written: string): { address: string; bits: number } | undefined {
  const [, start = '', count] = /^([\d.a-f:]+)(?:\/(\d{1,3}))?$/i.exec(written) ?? []
  const address = isIP(start) ? parseAddress(start) : undefined
  if (address === undefined) return undefined
  const bitsOfAddress = familyOf(address) === 'ipv4' ? 32 : 128
  // IPv4 in IPv6 notation has a mapping prefix of 96 bits.
  const bitsBefore = isIP(start) === 6 && bitsOfAddress === 32 ? 96 : 0
  const bits = count === undefined ? bitsOfAddress : Number(count) - bitsBefore
  return bits > 0 && bits <= bitsOfAddress ? { address, bits } : undefined
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

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/**
 * Parses an address as proxies write it: with or without port, IPv6 with or without brackets. Returns undefined for
 * other text.
 */
function parseAddress(written: string | undefined): string | undefined {
  const text = written?.trim() ?? ''
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  if (isIP(bare) === 4) return bare
  if (isIP(bare) !== 6) return undefined
  const withoutZone = bare.split('%', 1)[0] ?? ''
  return mapped(new SocketAddress({ address: withoutZone, family: 'ipv6' }).address)
}

/** Returns the IPv4 address that an IPv6 address maps (RFC 4291 §2.5.5.2), or the address itself. */
function mapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}
