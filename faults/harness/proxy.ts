import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Proxy = Awaited<ReturnType<typeof openProxy>>

/**
 * What happens to messages to the database that contain these words: the affected share, and whether the database
 * receives them.
 */
type Fault = { words: string[]; share: number; what: 'cut the answer' | { refuseWith: '40001' | '40P01' } }

/** A proxy between the service and its PostgreSQL that simulates network failures. */
export async function openProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const pairs = new Set<[Socket, Socket]>()
  let fault: Fault | undefined
  let struck = 0

  const server = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname)
    const pair: [Socket, Socket] = [inner, outer]
    pairs.add(pair)
    const cut = () => {
      inner.destroy()
      outer.destroy()
      pairs.delete(pair)
    }
    for (const socket of pair) socket.on('close', cut).on('error', cut)
    inner.on('data', (message: Buffer) => {
      if (!fault || !strikes(fault, message)) return void outer.write(message)
      struck += 1
      if (fault.what !== 'cut the answer') return void inner.write(refusal(message, fault.what.refuseWith))
      outer.off('data', forward).once('data', cut)
      outer.write(message)
    })
    const forward = (answer: Buffer) => void inner.write(answer)
    outer.on('data', forward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const url = new URL(databaseUrl)
  url.port = String(address.port)

  return {
    url: url.href,
    /** The number of injected faults. */
    struck: () => struck,
    strike: (next: Fault | undefined) => void (fault = next),
    /** Drops all further traffic of the open connections silently. */
    freeze() {
      for (const [inner, outer] of pairs) {
        inner.pause()
        outer.pause()
      }
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}

function strikes({ words, share }: Fault, message: Buffer): boolean {
  return Math.random() < share && words.some((word) => message.includes(word))
}

/** An ErrorResponse and ReadyForQuery (PostgreSQL's manual, Message Formats), instead of the database's response. */
function refusal(message: Buffer, code: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0Mthe proxy refuses\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  const state = message.includes('commit') ? 'E' : 'I'
  return Buffer.concat([head, fields, Buffer.from(`Z\0\0\0\u0005${state}`)])
}
