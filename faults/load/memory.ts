import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Service } from '../../server/testing/service.ts'

/** Makes the memory of a service inspectable: for its environment. The system assigns a free port. */
export const inspectable = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

/** The memory of a process after garbage collection, and its resident memory, garbage included. */
export type Memory = {
  /** Objects, and the buffers outside of the heap. */
  heldBytes: number
  /** The memory of WebAssembly, which contains the embedded database. */
  webAssemblyBytes: number
  residentBytes: number
}

type Call = (method: string, parameters?: object) => Promise<Record<string, unknown>>

/** Inspects the memory of a service by Node's debugger protocol. */
export async function measureMemory(service: Service): Promise<Memory> {
  const address = /ws:\/\/\S+/.exec(service.output())?.[0]
  if (address === undefined)
    throw new Error('the service was not started with the environment that makes it inspectable')
  const socket = new WebSocket(address)
  await once(socket, 'open')
  try {
    const call = callsOver(socket)
    await call('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await call('Runtime.getHeapUsage')
    return {
      heldBytes: Number(usedSize) + Number(backingStorageSize),
      webAssemblyBytes: await sumOfWebAssembly(call),
      residentBytes: residentBytes(service),
    }
  } finally {
    socket.close()
    await once(socket, 'close')
  }
}

/** Formats megabytes. */
export function describeMemory({ heldBytes, webAssemblyBytes, residentBytes }: Memory): string {
  const [held, webAssembly, resident] = [heldBytes, webAssemblyBytes, residentBytes].map(megabytes)
  return `${held} MB held, ${webAssembly} MB of WebAssembly, ${resident} MB resident`
}

export function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

/** Sends one call after another, each with its response. */
function callsOver(socket: WebSocket): Call {
  let sent = 0
  return async (method, parameters = {}) => {
    const id = ++sent
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>()
    const read = ({ data }: MessageEvent) => {
      const message = asObject(JSON.parse(String(data)))
      if (message['id'] === id) resolve(message)
    }
    socket.addEventListener('message', read)
    socket.send(JSON.stringify({ id, method, params: parameters }))
    const { result, error } = await promise
    socket.removeEventListener('message', read)
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return asObject(result)
  }
}

/** Returns the total memory of all WebAssembly instances of the process. */
async function sumOfWebAssembly(call: Call): Promise<number> {
  const prototype = await call('Runtime.evaluate', { expression: 'WebAssembly.Memory.prototype' })
  const prototypeObjectId = asObject(prototype['result'])['objectId']
  const { objectId } = asObject((await call('Runtime.queryObjects', { prototypeObjectId }))['objects'])
  const functionDeclaration = 'function () { return this.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) }'
  const summed = await call('Runtime.callFunctionOn', { objectId, functionDeclaration })
  await call('Runtime.releaseObject', { objectId })
  return Number(asObject(summed['result'])['value'])
}

function residentBytes({ process: { pid } }: Service): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Error(`the debugger returned ${JSON.stringify(value)}`)
  return { ...value }
}
