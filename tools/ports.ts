import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'

/** Finds free, distinct ports of this machine. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenSomewhere))
  const ports = servers.map((server) => portOf(server.address()))
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

/** Blocks of ports for test processes, below the ports that systems assign to connections. */
const firstPort = 10_240
const blocks = 220
const portsOfBlock = 100
let claimed: Promise<number> | undefined
let tried = randomInt(portsOfBlock)

/** Listens on another port of the block each time, so that a port which is released is not soon found again. */
async function listenSomewhere(): Promise<Server> {
  const first = await (claimed ??= claimBlock())
  tried += 1
  const server = await listenAt(first + 1 + (tried % (portsOfBlock - 1)))
  return server ?? listenSomewhere()
}

/**
 * Claims a block of ports, and returns the first. The process listens on that one until it ends: no other test process
 * takes a port of the block between its release here and the start of a service on it, however long that takes.
 */
async function claimBlock(block = process.pid % blocks): Promise<number> {
  const first = firstPort + block * portsOfBlock
  const guard = await listenAt(first)
  guard?.unref()
  return guard ? first : claimBlock((block + 1) % blocks)
}

/** Returns undefined if the port is in use. */
async function listenAt(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port)
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
    throw error
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
