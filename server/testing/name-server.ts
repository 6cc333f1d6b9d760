import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { AUTHORITATIVE_ANSWER, decode, encode, TRUNCATED_RESPONSE, type Answer, type Packet } from 'dns-packet'

/** What the server does with questions for a name: answers records, or an error, or nothing at all. */
type Behaviour = { records: Answer[] } | { message: Buffer } | { responseCode: number } | 'silence'

const responseCodes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const
const datagramBytesMax = 1232
const messageBytesMax = 65_535
/** Where the header of a message counts the records of its answer (RFC 1035 §4.1.1). */
const recordCountAt = 6

/** A real name server on this machine, over UDP and TCP, that knows what it is told. Give `address` as DNS_SERVERS. */
export async function startNameServer() {
  const names = new Map<string, Behaviour>()
  const asked: string[] = []
  const sockets = new Set<Socket>()

  function answerTo(question: Packet, bytesMax: number): Buffer | undefined {
    const [wanted] = question.questions ?? []
    if (!wanted) return undefined
    asked.push(`${wanted.type} ${wanted.name}`)
    const behaviour = names.get(wanted.name.toLowerCase()) ?? { responseCode: responseCodes.NXDOMAIN }
    if (behaviour === 'silence') return undefined
    const answer = (flags: number, answers: Answer[]) =>
      encode({ type: 'response', id: question.id, flags, questions: [wanted], answers })
    if ('responseCode' in behaviour) return answer(behaviour.responseCode, [])
    if ('message' in behaviour) {
      const whole = Buffer.concat([answer(AUTHORITATIVE_ANSWER, []), behaviour.message.subarray(2)])
      if (whole.length > bytesMax) return answer(AUTHORITATIVE_ANSWER | TRUNCATED_RESPONSE, [])
      behaviour.message.copy(whole, recordCountAt, 0, 2)
      return whole
    }
    const records = behaviour.records.filter(({ type }) => type === wanted.type || type === 'CNAME')
    const whole = answer(AUTHORITATIVE_ANSWER, records)
    if (whole.length <= bytesMax) return whole
    // About as many as fit: they are of one length where there are so many.
    const fitting = records.slice(0, Math.floor((0.98 * bytesMax * records.length) / whole.length))
    return answer(AUTHORITATIVE_ANSWER | TRUNCATED_RESPONSE, fitting)
  }

  const udp = createSocket('udp4')
  udp.on('message', (message, from) => {
    const answer = answerTo(decode(message), datagramBytesMax)
    if (answer) udp.send(answer, from.port, from.address)
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
    /** The questions so far, such as `TXT acme.example`. */
    asked,
    /** Has a name answered with TXT records, each a text or the strings that it is cut into. */
    setTexts(name: string, ...texts: (string | string[])[]) {
      names.set(name, { records: texts.map((data) => ({ name, type: 'TXT', ttl: 3600, data })) })
    },
    /** Makes a name an alias of another, as a resolver answers it: with what that one has. */
    setAlias(name: string, target: string, ...texts: string[]) {
      const records: Answer[] = texts.map((data) => ({ name: target, type: 'TXT', ttl: 3600, data }))
      names.set(name, { records: [{ name, type: 'CNAME', ttl: 3600, data: target }, ...records] })
    },
    /** Sets the raw answer for a name: the number of records as two bytes, and the bytes of the records. */
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

/** Listens on one port, for both. */
async function listenOnBoth(udp: ReturnType<typeof createSocket>, tcp: ReturnType<typeof createServer>) {
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const address = tcp.address()
  if (address === null || typeof address === 'string') throw new Error('the name server listens on no port')
  udp.bind(address.port, '127.0.0.1')
  await once(udp, 'listening')
  return address.port
}
