import { Resolver } from 'node:dns/promises'
import type { Config } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { whileIdle } from '#platform/idle.ts'

/** What a question for the TXT records of a name has come to. */
export type Texts =
  /** The records, each as one text; none where the name has none, or there is no such name. */
  | { kind: 'texts'; texts: string[] }
  /** The name stands for another one, whose records are not its own. */
  | { kind: 'alias' }
  /** Nobody knows: a code of Node's (`ESERVFAIL`, `ETIMEOUT`), `too_many_records`, `too_many_questions`. */
  | { kind: 'no answer'; reason: string }

/** Asks the DNS what a name says of itself. */
export type NameServers = { readTexts: (name: string) => Promise<Texts> }

/** A name has a handful, and a single one is wanted. In bytes the DNS itself keeps an answer below 64 KiB. */
const recordsMax = 100
const withinMilliseconds = 5000
/** When a datagram is sent again, which may have been lost. */
const againMilliseconds = 1200
const underWayMax = 50

export function createNameServers({ dnsServers }: Pick<Config, 'dnsServers'>): NameServers {
  let underWay = 0
  return {
    async readTexts(name) {
      if (underWay >= underWayMax) return { kind: 'no answer', reason: 'too_many_questions' }
      underWay += 1
      try {
        return await whileIdle(() => allowEgress('dns', () => ask(name, dnsServers)))
      } finally {
        underWay -= 1
      }
    },
  }
}

/** A resolver for one question, so that nothing is remembered, and to give up one is to give up no other. */
async function ask(name: string, servers: string[]): Promise<Texts> {
  const resolver = new Resolver({ timeout: againMilliseconds, maxTimeout: againMilliseconds, tries: 3 })
  if (servers.length > 0) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), withinMilliseconds)
  try {
    // The records of an alias are those of another name, and do not say so.
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

/** That there is no such name, or that it has no such record, is an answer. */
async function noneIfAbsent<Found>(asked: Promise<Found[]>): Promise<Found[]> {
  try {
    return await asked
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
