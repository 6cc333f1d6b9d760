import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { AUTHORITATIVE_ANSWER, decode, encode, TRUNCATED_RESPONSE, type Answer, type Packet } from 'dns-packet'
import { freePorts } from '../../tools/ports.ts'

/** Behavior for queries of a name: answers records, an error, or nothing. */
type Behaviour = { records: Answer[]; silentFor?: string } | { message: Buffer } | { responseCode: number } | 'silence'

const responseCodes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const
const datagramBytesMax = 1232
const messageBytesMax = 65_535
/** Offset of the record count in the header of a message (RFC 1035 §4.1.1). */
const recordCountAt = 6

/**
 * Starts a real name server on this machine, over UDP and TCP, with configurable records. Use `address` as DNS_SERVERS.
 */
export async function startNameServer() {
  const names = new Map<string, Behaviour>()
  const queries: string[] = []
  const sockets = new Set<Socket>()
  let onQuery = () => {}
  let held: Promise<void> = Promise.resolve()

  function answerTo(question: Packet, bytesMax: number): Buffer | undefined {
    const [requested] = question.questions ?? []
    if (!requested) return undefined
    queries.push(`${requested.type} ${requested.name}`)
    onQuery()
    const behaviour = names.get(requested.name.toLowerCase()) ?? { responseCode: responseCodes.NXDOMAIN }
    if (behaviour === 'silence') return undefined
    const answer = (flags: number, answers: Answer[]) =>
      encode({ type: 'response', id: question.id, flags, questions: [requested], answers })
    if ('responseCode' in behaviour) return answer(behaviour.responseCode, [])
    if ('message' in behaviour) {
      const whole = Buffer.concat([answer(AUTHORITATIVE_ANSWER, []), behaviour.message.subarray(2)])
      if (whole.length > bytesMax) return answer(AUTHORITATIVE_ANSWER | TRUNCATED_RESPONSE, [])
      behaviour.message.copy(whole, recordCountAt, 0, 2)
      return whole
    }
    if (behaviour.silentFor === requested.type) return undefined
    const records = behaviour.records.filter(({ type }) => type === requested.type || type === 'CNAME')
    const whole = answer(AUTHORITATIVE_ANSWER, records)
    if (whole.length <= bytesMax) return whole
    // About as many as fit: many records all have the same length.
    const fitting = records.slice(0, Math.floor((0.98 * bytesMax * records.length) / whole.length))
    return answer(AUTHORITATIVE_ANSWER | TRUNCATED_RESPONSE, fitting)
  }

  const udp = createSocket('udp4')
  udp.on('message', (message, from) => {
    const answer = answerTo(decode(message), datagramBytesMax)
    if (answer) void held.then(() => udp.send(answer, from.port, from.address))
  })
  const tcp = createServer((socket) => {
    sockets.add(socket)
    let received = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) {
        const end = 2 + received.readUInt16BE()
        const answer = answerTo(decode(received.subarray(2, end)), messageBytesMax)
        received = received.subarray(end)
        if (!answer) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length)
        socket.write(Buffer.concat([length, answer]))
      }
    })
  })
  const port = await listenOnBoth(udp, tcp)

  return {
    address: `127.0.0.1:${port}`,
    /** Queries so far, such as `TXT acme.example`. */
    queries,
    /** Resolves when there were `count` different queries. */
    async has(count: number): Promise<void> {
      while (new Set(queries).size < count) await new Promise<void>((resolve) => (onQuery = resolve))
    },
    /** Delays all answers over UDP until then. */
    holdUntil: (until: Promise<void>) => void (held = until),
    /** Sets the TXT records of a name, each a text or the strings that it is split into. */
    setTexts(name: string, ...texts: (string | string[])[]) {
      names.set(name, { records: texts.map((data) => ({ name, type: 'TXT', ttl: 3600, data })) })
    },
    /** Makes a name an alias of another, in the form that a resolver answers: with the records of that one. */
    setAlias(name: string, target: string, ...texts: string[]) {
      const records: Answer[] = texts.map((data) => ({ name: target, type: 'TXT', ttl: 3600, data }))
      names.set(name, { records: [{ name, type: 'CNAME', ttl: 3600, data: target }, ...records] })
    },
    /** Sets the addresses of a name, or of the one that it is an alias of. It may not answer for one family. */
    setAddresses(
      name: string,
      addresses: string[],
      { target = name, ...silent }: { target?: string; silentFor?: 'A' | 'AAAA' } = {},
    ) {
      const records = addresses.map((data): Answer => {
        return { name: target, type: data.includes(':') ? 'AAAA' : 'A', ttl: 3600, data }
      })
      if (target !== name) records.unshift({ name, type: 'CNAME', ttl: 3600, data: target })
      names.set(name, { records, ...silent })
    },
    /** Sets the raw response for a name: the number of records as two bytes, and the records. */
    setMessage(name: string, message: Buffer) {
      names.set(name, { message })
    },
    fail(name: string, how: keyof typeof responseCodes) {
      names.set(name, { responseCode: responseCodes[how] })
    },
    stayAway(name: string) {
      names.set(name, 'silence')
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      udp.close()
      tcp.close()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
}

/** Listens on the same port for both. A port that the system assigns to one may be in use for the other. */
async function listenOnBoth(udp: ReturnType<typeof createSocket>, tcp: ReturnType<typeof createServer>) {
  const [port = 0] = await freePorts(1)
  tcp.listen(port, '127.0.0.1')
  await once(tcp, 'listening')
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  return port
}
