import { Resolver } from 'node:dns/promises'
import type { Config } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { whileIdle } from '#platform/idle.ts'

/** Result of a look-up of the TXT records of a name. */
export type TxtLookupResult =
  /** The records, each as one text. Empty if the name has none or does not exist. */
  | { kind: 'texts'; texts: string[] }
  /** The name is an alias of another one, whose records are not its own. */
  | { kind: 'alias' }
  /** No result: a code of Node (`ESERVFAIL`, `ETIMEOUT`), `too_many_records` or `too_many_questions`. */
  | { kind: 'no answer'; reason: string }

/** Looks up TXT records in the DNS. */
export type DnsResolver = { readTexts: (name: string) => Promise<TxtLookupResult> }

/** Names have a handful of records, and one of them is needed. The DNS itself limits a response to 64 KiB. */
const recordsMax = 100
const withinMilliseconds = 5000
/** Time until a possibly lost datagram is sent again. */
const againMilliseconds = 1200
const maxInFlight = 50

export function createDnsResolver({ dnsServers }: Pick<Config, 'dnsServers'>): DnsResolver {
  let underWay = 0
  return {
    async readTexts(name) {
      if (underWay >= maxInFlight) return { kind: 'no answer', reason: 'too_many_questions' }
      underWay += 1
      try {
        return await whileIdle(() => allowEgress('dns', () => ask(name, dnsServers)))
      } finally {
        underWay -= 1
      }
    },
  }
}

/** Looks up a name with a separate resolver, so that nothing is cached and cancelling one look-up cancels no other. */
async function ask(name: string, servers: string[]): Promise<TxtLookupResult> {
  const resolver = new Resolver({ timeout: againMilliseconds, maxTimeout: againMilliseconds, tries: 3 })
  if (servers.length > 0) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), withinMilliseconds)
  try {
    // The records of an alias belong to another name, and their response does not say so.
    const [targets, records] = await Promise.all([
      noneIfAbsent(resolver.resolveCname(name)),
      noneIfAbsent(resolver.resolveTxt(name)),
    ])
    if (targets.length > 0) return { kind: 'alias' }
    if (records.length > recordsMax) return { kind: 'no answer', reason: 'too_many_records' }
    return { kind: 'texts', texts: records.map((strings) => strings.join('')) }
  } catch (error) {
    const reason = codeOf(error)
    if (reason === undefined) throw error
    return { kind: 'no answer', reason }
  } finally {
    clearTimeout(timer)
    resolver.cancel()
  }
}

/** Returns an empty list if the name does not exist or has no such record. */
async function noneIfAbsent<Found>(requested: Promise<Found[]>): Promise<Found[]> {
  try {
    return await requested
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
