import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

type Question = { plaintext?: string; ciphertext?: string; context: { organizationId: string; keyId: string } }
type Received = { operation: string; authorization: string; body: string }
type Answer = { status: number; body: string }

/** Overrides the answer of the KMS unless it returns `undefined`. */
type KmsBehavior = (operation: string, question: Question) => Answer | undefined

/** Starts the KMS of an organization, which accepts every caller: the test checks their authentication. */
export async function startCustomerKms() {
  const root = randomBytes(32)
  const received: Received[] = []
  let mood: KmsBehavior = () => undefined
  let held: Promise<void> = Promise.resolve()

  const answerTo = (operation: string, question: Question): Answer => {
    const context = Buffer.from(JSON.stringify(question.context))
    const answered =
      operation === 'wrap'
        ? { ciphertext: seal(root, Buffer.from(question.plaintext ?? '', 'base64'), context) }
        : { plaintext: open(root, question.ciphertext ?? '', context).toString('base64') }
    return { status: 200, body: JSON.stringify(answered) }
  }
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const operation = request.url?.split('/').at(-1) ?? ''
    const body = await text(request)
    received.push({ operation, authorization: request.headers.authorization ?? '', body })
    const question = JSON.parse(body) as Question
    const { status, body: said } = mood(operation, question) ?? answerTo(operation, question)
    await held
    response.writeHead(status, { 'content-type': 'application/json' }).end(said)
  }
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.writeHead(400).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the KMS has no port')
  return {
    url: `http://localhost:${address.port}/keys`,
    received,
    /** Changes the answers from now on; without an argument they are normal again. */
    be: (next: KmsBehavior = () => undefined) => void (mood = next),
    /** Delays all answers until then. */
    holdUntil: (until: Promise<void>) => void (held = until),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function seal(root: Buffer, plaintext: Buffer, context: Buffer): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', root, iv).setAAD(context)
  const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')
}

function open(root: Buffer, ciphertext: string, context: Buffer): Buffer {
  const bytes = Buffer.from(ciphertext, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', root, bytes.subarray(0, 12)).setAAD(context)
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
