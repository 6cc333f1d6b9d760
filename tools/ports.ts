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

/**
 * Port range of a test process: below the ports that systems assign to connections, and different from other test
 * processes. A port that is released and listened on again later is therefore not taken in between.
 */
const portsOfProcess = 100
const firstPort = 10_240 + (process.pid % 220) * portsOfProcess
let tried = randomInt(portsOfProcess)

async function listenSomewhere(): Promise<Server> {
  tried += 1
  const server = createServer().listen(firstPort + (tried % portsOfProcess))
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return listenSomewhere()
    throw error
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
