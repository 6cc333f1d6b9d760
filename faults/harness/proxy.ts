import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { SeededRandom } from './chance.ts'

export type Proxy = Awaited<ReturnType<typeof openProxy>>

/**
 * What happens to messages to the database that contain these words: the affected share, and whether the database
 * receives them.
 */
type Fault = { words: string[]; share: number; what: 'cut the answer' | { refuseWith: '40001' | '40P01' } }

/**
 * A proxy between the service and its PostgreSQL that simulates network failures. The same seed strikes the same of
 * the messages that follow each other.
 */
export async function openProxy(databaseUrl: string, seed: number) {
  const target = new URL(databaseUrl)
  const pairs = new Set<[Socket, Socket]>()
  const chance = new SeededRandom(seed)
  const news = new EventEmitter()
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
    /** Requests that the database has not answered, and what follows when it has. */
    let unanswered = 0
    let then: (() => void) | undefined
    inner.on('data', (message: Buffer) => {
      const requests = countRequests(message)
      if (!fault || !strikes(fault, message, chance)) {
        unanswered += requests
        return void outer.write(message)
      }
      struck += 1
      news.emit('strike')
      if (fault.what === 'cut the answer') {
        outer.off('data', forward).once('data', cut)
        return void outer.write(message)
      }
      const refused = refusals(message, requests, fault.what.refuseWith)
      if (unanswered === 0) inner.write(refused)
      else then = () => void inner.write(refused)
    })
    const forward = (answer: Buffer) => {
      inner.write(answer)
      unanswered = Math.max(0, unanswered - countAnswers(answer))
      if (unanswered > 0) return
      then?.()
      then = undefined
    }
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
    /** Resolves when this many more faults have been injected. */
    async untilStruck(count: number): Promise<void> {
      for (let more = count; more > 0; more -= 1) await once(news, 'strike')
    },
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

function strikes({ words, share }: Fault, message: Buffer, chance: SeededRandom): boolean {
  return words.some((word) => message.includes(word)) && chance.happens(share)
}

/** Counts what a client asks for a response to: Query and Sync messages (PostgreSQL's manual, Message Formats). */
function countRequests(messages: Buffer): number {
  return kindsOf(messages).filter((kind) => kind === 'Q' || kind === 'S').length
}

/** Counts the ends of responses: ReadyForQuery messages. One that arrives in parts is found by its bytes. */
function countAnswers(messages: Buffer): number {
  let count = 0
  for (let at = messages.indexOf(readyForQuery); at !== -1; at = messages.indexOf(readyForQuery, at + 1)) count += 1
  return count
}

const readyForQuery = Buffer.from('Z\0\0\0\u0005')

/** Lists the kinds of messages that follow each other, each of a letter and its length. */
function kindsOf(messages: Buffer): string[] {
  const kinds: string[] = []
  for (let at = 0; at + 5 <= messages.length; at += 1 + messages.readInt32BE(at + 1))
    kinds.push(String.fromCharCode(messages[at] ?? 0))
  return kinds
}

/** An ErrorResponse and ReadyForQuery for each request, instead of the database's response. */
function refusals(message: Buffer, requests: number, code: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0Mthe proxy refuses\0\0`)
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  const state = message.includes('commit') ? 'E' : 'I'
  const refusal = Buffer.concat([head, fields, readyForQuery, Buffer.from(state)])
  return Buffer.concat(Array.from({ length: requests }, () => refusal))
}
