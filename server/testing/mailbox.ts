import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

/** Message as it arrived: the recipients of the envelope, its headers, and its text. */
export type Received = { to: string[]; headers: string; subject: string; text: string }

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>

/** Starts a real mail server on this machine, which stores all mail. Use `url` as SMTP_URL. */
export async function openMailbox() {
  const received: Received[] = []
  const waiting: ((mail: Received) => void)[] = []
  let refusing: { responseCode: number; only: string | undefined } | undefined
  const held = new Map<string, Promise<void>>()
  function keep(mail: Received): void {
    const next = waiting.shift()
    if (next) next(mail)
    else received.push(mail)
  }

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onRcptTo({ address }, _session, done) {
      const isRefused = () => refusing && (refusing.only ?? address) === address
      const answer = () => done(isRefused() ? Object.assign(new Error('refused'), refusing) : null)
      void (held.get(address) ?? Promise.resolve()).then(answer)
    },
    onData(stream, { envelope }, done) {
      void text(stream)
        .then((raw) => keep({ to: envelope.rcptTo.map(({ address }) => address), ...read(raw) }))
        .then(() => done(), done)
    },
  })
  const { server: listener } = server
  server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Returns the oldest message that was not taken yet; waits for one if there is none. */
    take(): Promise<Received> {
      const first = received.shift()
      return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve))
    },
    /** Counts the messages that were not taken yet. */
    count: () => received.length,
    /** Sets the reply for every recipient, or only one, from now on; without a reply, mail is accepted again. */
    refuse(responseCode?: number, only?: string) {
      refusing = responseCode === undefined ? undefined : { responseCode, only }
    },
    /** Answers nothing to mail for an address until the returned function is called. */
    hold(address: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.set(address, promise)
      return resolve
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Returns the six or eight digits in a message, on their own line. */
export function codeIn({ text: written }: Pick<Received, 'text'>): string {
  return /^\d{6}(?:\d\d)?$/m.exec(written)?.[0] ?? ''
}

/** Parses a message of one part (RFC 5322), in the encodings of RFC 2045 and RFC 2047. */
function read(raw: string): Omit<Received, 'to'> {
  const end = raw.indexOf('\r\n\r\n')
  const headers = raw.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1]?.trim() ?? ''
  const body = raw.slice(end + 4)
  return {
    headers,
    subject: header('subject').replaceAll(/=\?utf-8\?([bq])\?(.*?)\?=\s*/gi, (_, encoding: string, word: string) =>
      /b/i.test(encoding) ? fromBase64(word) : fromQuotedPrintable(word.replaceAll('_', ' ')),
    ),
    text: decodeBody(body, header('content-transfer-encoding')).replaceAll('\r\n', '\n'),
  }
}

function decodeBody(body: string, encoding: string): string {
  if (/quoted-printable/i.test(encoding)) return fromQuotedPrintable(body)
  return /base64/i.test(encoding) ? fromBase64(body) : body
}

function fromBase64(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString('utf8')
}

function fromQuotedPrintable(encoded: string): string {
  const joined = encoded.replaceAll(/=\r\n/g, '')
  const bytes = joined.replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
