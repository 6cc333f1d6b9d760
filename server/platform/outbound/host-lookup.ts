import { ADDRCONFIG, type LookupAddress } from 'node:dns'
import { lookup as lookUp, Resolver as NameServerClient } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { reasonOf, type Resolver } from './addresses.ts'

/**
 * Time until a possibly lost datagram is sent again, at first and at most. The tries together wait as long as
 * `getaddrinfo` does by default; a request ends its lookup before.
 */
const queryTiming = { timeout: 1500, maxTimeout: 3000, tries: 4 }
/** Time that the addresses of one family wait for those of the other (RFC 8305 §3), which some name servers omit. */
const otherFamilyMilliseconds = 500
/**
 * Maximum number of concurrent lookups by the machine. Each has a thread for as long as its name server is silent, also
 * after its request has ended. Half of the threads that Node has for lookups (`thread-pool.ts`) are left to the
 * database.
 */
const machineLookupsMax = 2

const hostsPath = process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts'

type Sources = {
  /** Addresses of name servers, by default those of this machine. */
  nameServers?: string[]
  /** The families of addresses that this machine can connect to, 4 and 6. */
  findFamilies?: () => Set<number>
  lookUpByMachine?: (hostname: string) => Promise<LookupAddress[]>
}

/**
 * Creates the resolver of host names. It looks a name up in the hosts file, and then asks the name servers until the
 * request ends, which takes no thread. The machine looks up the name of an operator, with its search domains, if the
 * name servers give no address, and what OUTBOUND_NETWORKS lists without asking them.
 */
export function createHostResolver({
  nameServers = [],
  findFamilies = familiesOfMachine,
  lookUpByMachine = machineLookup,
}: Sources = {}): Resolver {
  async function resolve(hostname: string, { namedBy, signal }: Parameters<Resolver>[1]): Promise<LookupAddress[]> {
    if (namedBy === 'list') return lookUpByMachine(hostname)
    const known = await findLocally(hostname)
    if (known.length > 0) return usable(known, findFamilies())
    try {
      return usable(await askNameServers(hostname, nameServers, signal), findFamilies())
    } catch (error) {
      if (namedBy === 'operator' && !signal.aborted) return lookUpByMachine(hostname)
      throw error
    }
  }
  return (hostname, options, callback) => {
    resolve(hostname, options).then(
      (found) => callback(null, found),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []),
    )
  }
}

/** Returns the addresses of the hosts file, and those that names of this machine always have (RFC 6761 §6.3). */
async function findLocally(hostname: string): Promise<LookupAddress[]> {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  const found = addressesIn(await readHostsFile(), name)
  if (found.length > 0) return found
  return name === 'localhost' || name.endsWith('.localhost') ? addressesOf(['127.0.0.1', '::1']) : []
}

/** Reads the hosts file of this machine, which may change. Small images have none. */
function readHostsFile(): Promise<string> {
  return readFile(hostsPath, 'utf8').catch(() => '')
}

/** Returns the addresses that a hosts file gives a name. */
export function addressesIn(hostsFile: string, name: string): LookupAddress[] {
  const entries = hostsFile.split('\n').map((line) => (line.split('#')[0] ?? '').split(/\s/).filter(Boolean))
  const matching = entries.filter(([, ...names]) => names.some((each) => each.toLowerCase() === name))
  return addressesOf(matching.map(([address = '']) => address))
}

/** Sorts addresses by family. Connections try the families in turn, and begin with the first. */
function addressesOf(addresses: string[]): LookupAddress[] {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return found.filter(({ family }) => family !== 0).toSorted((a, b) => a.family - b.family)
}

/**
 * Leaves out addresses of a family that this machine has no address of, if there are others, as `getaddrinfo` does with
 * ADDRCONFIG. A connection would try them in turn, and cut each attempt but the last after half a second.
 */
function usable(found: LookupAddress[], families: Set<number>): LookupAddress[] {
  const left = found.filter(({ family }) => families.has(family))
  return left.length > 0 ? left : found
}

/** Returns the families of this machine's addresses, other than those of itself and of one link alone. */
function familiesOfMachine(): Set<number> {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const outer = own.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  return new Set(outer.map(({ address }) => isIP(address)))
}

/**
 * Asks the name servers for the addresses of both families, with a separate resolver, so that nothing is cached and
 * cancelling one lookup cancels no other. A family without an answer does not hide the other.
 */
async function askNameServers(name: string, nameServers: string[], signal: AbortSignal): Promise<LookupAddress[]> {
  const client = new NameServerClient(queryTiming)
  if (nameServers.length > 0) client.setServers(nameServers)
  const cancel = () => client.cancel()
  let timer: NodeJS.Timeout | undefined
  const orSoon = (found: string[]) => {
    timer ??= setTimeout(cancel, otherFamilyMilliseconds)
    return found
  }
  signal.addEventListener('abort', cancel)
  try {
    const queries = [client.resolve4(name).then(orSoon), client.resolve6(name).then(orSoon)]
    if (signal.aborted) cancel()
    const answers = await Promise.allSettled(queries)
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return addressesOf(found)
    throw failureOf(answers.flatMap((answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : [])))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    client.cancel()
  }
}

/** Returns the error of a lookup without addresses: that the name has none, or why that is unknown. */
function failureOf(errors: unknown[]): unknown {
  const isAbsence = (error: unknown) => ['ENOTFOUND', 'ENODATA'].includes(reasonOf(error))
  const absence = errors.find((error) => reasonOf(error) === 'ENOTFOUND')
  if (absence === undefined && !errors.every(isAbsence)) return errors.find((error) => !isAbsence(error))
  return absence ?? Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' })
}

/**
 * Limits the concurrent lookups by the machine (`getaddrinfo`). Callers with the same name share one, so that a name
 * whose name server is silent has at most one thread.
 */
export function createMachineLookup(look: (hostname: string) => Promise<LookupAddress[]>) {
  const sharedByName = new Map<string, Promise<LookupAddress[]>>()
  const queue: (() => void)[] = []
  let running = 0

  async function lookInTurn(hostname: string): Promise<LookupAddress[]> {
    if (running < machineLookupsMax) running += 1
    else await new Promise<void>((resolve) => void queue.push(resolve))
    try {
      return await look(hostname)
    } finally {
      // The next one takes over the place of this one.
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }

  return (hostname: string): Promise<LookupAddress[]> => {
    const shared = sharedByName.get(hostname) ?? lookInTurn(hostname).finally(() => void sharedByName.delete(hostname))
    sharedByName.set(hostname, shared)
    return shared
  }
}

/** All clients of a process share its threads. */
const machineLookup = createMachineLookup((hostname) => lookUp(hostname, { all: true, hints: ADDRCONFIG }))
