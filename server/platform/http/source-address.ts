import { BlockList, isIP, SocketAddress, type Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Config } from '#platform/config/config.ts'

/** What a request says of where it comes from: the connected address, then those that trusted proxies have named. */
type Origin = Pick<FastifyRequest, 'ip'> & Partial<Pick<FastifyRequest, 'ips'>>

/**
 * The address that a request comes from: IPv4 in dots, or IPv6 as RFC 5952 writes it, without a port and a zone. Where
 * a trusted proxy has named something that is no IP address, it is that proxy's own. No other module reads
 * `request.ip`, which is what the header says, to the letter; `tools/tidy.ts` checks that.
 */
export function sourceAddress({ ip, ips = [ip] }: Origin): string {
  return ips.map(parseAddress).findLast((address) => address !== undefined) ?? 'unknown'
}

const stranger = 'X-Forwarded-For of an address that is not trusted is ignored'
const misnamed = 'X-Forwarded-For of a trusted proxy names no IP address: its requests count as its own'

/** What is wrong with what a request says of where it comes from, for the log. */
export function objectionToForwarding(request: Origin & Pick<FastifyRequest, 'headers'>): string | undefined {
  const header = request.headers['x-forwarded-for']
  if (header === undefined || !/[^ \t,]/.test(String(header))) return undefined
  // The address that is connected, and those that it may name.
  const { ips = [] } = request
  if (ips.length < 2) return stranger
  return parseAddress(ips.at(-1)) === undefined ? misnamed : undefined
}

/**
 * Which of the addresses before us may say whom a request is from, as `TRUST_PROXY` has it: so many hops, or these
 * networks. What is no IP address may not: nobody knows what it means by the next.
 */
export function trustOf(setting: Config['trustProxy']): false | ((written: string, hop: number) => boolean) {
  if (setting === false) return false
  if (typeof setting === 'number') return (written, hop) => hop < setting && parseAddress(written) !== undefined
  const networks = new BlockList()
  for (const written of setting) {
    const network = parseNetwork(written)
    if (!network) throw new TypeError(`${written} is no network`)
    networks.addSubnet(network.address, network.bits, familyOf(network.address))
  }
  return (written) => {
    const address = parseAddress(written)
    return address !== undefined && networks.check(address, familyOf(address))
  }
}

/**
 * The address of a connection that counts for its network. Undefined for a trusted proxy, which connects for many, and
 * for this machine itself, whose programs reach the service in any case.
 */
export function connectedAddress({ remoteAddress }: Pick<Socket, 'remoteAddress'>, trust: ReturnType<typeof trustOf>) {
  const isProxy = remoteAddress !== undefined && trust && trust(remoteAddress, 0)
  const address = isProxy ? undefined : parseAddress(remoteAddress)
  return address === '127.0.0.1' || address === '::1' ? undefined : address
}

/** Reads an address, or a network as its first address and a number of bits above 0; undefined for what is none. */
export function parseNetwork(written: string): { address: string; bits: number } | undefined {
  const [, start = '', count] = /^([\d.a-f:]+)(?:\/(\d{1,3}))?$/i.exec(written) ?? []
  const address = isIP(start) ? parseAddress(start) : undefined
  if (address === undefined) return undefined
  const bitsOfAddress = familyOf(address) === 'ipv4' ? 32 : 128
  // Where IPv4 is written as IPv6, 96 bits are the mapping.
  const bitsBefore = isIP(start) === 6 && bitsOfAddress === 32 ? 96 : 0
  const bits = count === undefined ? bitsOfAddress : Number(count) - bitsBefore
  return bits > 0 && bits <= bitsOfAddress ? { address, bits } : undefined
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/**
 * Reads an address as proxies write it: with a port behind it or not, IPv6 in brackets or not. Answers undefined for
 * what is none.
 */
function parseAddress(written: string | undefined): string | undefined {
  const text = written?.trim() ?? ''
  const bare = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text
  if (isIP(bare) === 4) return bare
  if (isIP(bare) !== 6) return undefined
  const withoutZone = bare.split('%', 1)[0] ?? ''
  return mapped(new SocketAddress({ address: withoutZone, family: 'ipv6' }).address)
}

/** The IPv4 address that an IPv6 address stands for (RFC 4291 §2.5.5.2), or itself. */
function mapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}
