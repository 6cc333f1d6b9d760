import {
  type Catalogue,
  type Language,
  fallbackLanguage,
  isLanguage,
  languageTags,
  textsIn,
} from '@countersign/protocol/formats/registries/languages'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '#platform/clock.ts'
import { type Config, isLocal } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { whileIdle } from '#platform/idle.ts'
import type { Logger } from '#platform/observability/log.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type DevelopmentInbox, openDevelopmentInbox } from './development-inbox.ts'
import type { Secret } from '#platform/crypto/secret.ts'

/** Returns the supported language that `Accept-Language` prefers (RFC 9110 §12.5.4), English by default. */
export function negotiateLanguage({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  const requested = (headers['accept-language'] ?? '').split(',').map((range) => {
    const [tag = '', quality = 'q=1'] = range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    return { language: tag.split('-')[0] ?? '', quality: Number(quality.replace('q=', '')) }
  })
  const known = requested.flatMap(({ language, quality }) =>
    isLanguage(language) && quality > 0 ? [{ language, quality }] : [],
  )
  const [first] = known.toSorted((a, b) => b.quality - a.quality)
  return first?.language ?? fallbackLanguage
}

/** A plain-text message to one address. */
export type Mail = { to: string; subject: string; text: string }
/** Subject and text of a mail in each language. */
export type Letter = Catalogue<Omit<Mail, 'to'>>

/** Builds a mail in the language of its recipient. */
export function mailIn(language: Language, to: string, letter: Letter): Mail {
  return { to, ...textsIn(letter, language) }
}

/** Builds a mail that contains all languages, for a recipient whose language is unknown. */
export function mailInAllLanguages(to: string, letter: Letter): Mail {
  const all = new Set([fallbackLanguage, ...languageTags].map((language) => textsIn(letter, language)))
  const parts = [...all]
  return {
    to,
    subject: parts.map(({ subject }) => subject).join(' / '),
    text: `${parts.map(({ text }) => text).join('\n\n')}\n`,
  }
}

export type Mailer = {
  /** Whether this service sends mail, or shows it to a developer. */
  isSetUp: boolean
  /** Throws `mail_not_set_up` if this service sends no mail. Call it before any change that needs mail. */
  require: () => void
  /**
   * Sends a message; it has been accepted when the promise resolves. Never call it in a transaction, which would wait
   * for an external server. Throws `mail_not_set_up`, `temporarily_unavailable` or `undeliverable`.
   */
  send: (mail: Mail) => Promise<void>
  /** Resolves when no message is being sent. Requests do not wait for some of them, but the end of a process does. */
  idle: () => Promise<void>
  /** Where the mails go instead, on localhost without a mail server. */
  inbox?: DevelopmentInbox
}

type MailerServices = { log: Logger; clock: Clock; config: Pick<Config, 'mail' | 'authUrl' | 'brand'> }

const errors = defineErrors({
  mail_not_set_up: [503, 'E-mail delivery is not configured. The operator must set SMTP_URL and MAIL_FROM.'],
  temporarily_unavailable: [503, 'The mail could not be sent. Retry later.'],
  undeliverable: [400, 'The mail server rejected this address.'],
})

const retryAfterSeconds = 30
const connectWithinMilliseconds = 5000
const answerWithinMilliseconds = 10_000

type PlainMailer = Omit<Mailer, 'idle'>

/** Adds where to find help from the operator, if the operator has said it. */
function withFooter(mailer: PlainMailer, config: Pick<Config, 'brand'>): PlainMailer {
  return { ...mailer, send: (mail) => mailer.send({ ...mail, text: mail.text + footerOf(config) }) }
}

/** Keeps count of the messages that are being sent. */
function withIdle(mailer: PlainMailer): Mailer {
  const sending = new Set<Promise<void>>()
  return {
    ...mailer,
    send(mail) {
      const sent = mailer.send(mail).finally(() => sending.delete(sent))
      sending.add(sent)
      return sent
    },
    async idle() {
      while (sending.size > 0) {
        await Promise.allSettled(sending)
        // A sender of several messages begins the next one meanwhile.
        await new Promise(setImmediate)
      }
    },
  }
}

function footerOf({ brand: { name, links } }: Pick<Config, 'brand'>): string {
  const { support } = links
  return support === undefined ? '' : `\n-- \n${name}\n${support.replace(/^mailto:/, '')}\n`
}

/** Creates the mailer of the operator. */
export async function createMailer(services: MailerServices): Promise<Mailer> {
  return withIdle(withFooter(await createPlainMailer(services), services.config))
}

/**
 * Creates the mailer without a footer. The mail library is loaded only if it is needed, because many services have no
 * mail server.
 */
async function createPlainMailer({ config, log, clock }: MailerServices): Promise<PlainMailer> {
  switch (config.mail.by) {
    case 'smtp':
      return smtpMailer(config.mail, log)
    case 'log': {
      const inbox = openDevelopmentInbox(clock)
      return {
        inbox,
        isSetUp: true,
        require() {},
        async send(mail) {
          inbox.receive(mail)
          const address = `${config.authUrl.origin}/dev/mail`
          log.info({ mail: { ...mail, inbox: address } }, 'mail not sent: SMTP_URL is not set')
        },
      }
    }
    case 'nothing':
      return {
        isSetUp: false,
        require() {
          throw errors.mail_not_set_up()
        },
        async send() {
          throw errors.mail_not_set_up()
        },
      }
  }
}

async function smtpMailer({ url, from }: { url: Secret; from: string }, log: Logger): Promise<PlainMailer> {
  const { createTransport } = await import('nodemailer')
  const { protocol, hostname, port, username, password } = new URL(url.reveal())
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password is never sent unencrypted, except to this machine.
    requireTLS: !secure && username !== '' && !isLocal({ hostname }),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: connectWithinMilliseconds,
    greetingTimeout: connectWithinMilliseconds,
    socketTimeout: answerWithinMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    isSetUp: true,
    require() {},
    async send({ to, subject, text }) {
      // The address is passed as an object, because a string would be parsed and could name several.
      const message = { from, to: { name: '', address: to }, subject, text }
      try {
        const headers = { 'auto-submitted': 'auto-generated' }
        await whileIdle(() => allowEgress('mail', () => transport.sendMail({ ...message, headers })))
      } catch (error) {
        const { code, command, responseCode } = describe(error)
        // The text of the server's response may quote the address.
        log.warn({ smtp: code, command, responseCode }, 'mail delivery failed')
        if (command === 'RCPT TO' && responseCode >= 500) throw errors.undeliverable()
        const retry = { headers: { 'retry-after': String(retryAfterSeconds) } }
        // A recipient can be refused for a while by their own mail server alone.
        throw errors.temporarily_unavailable(command === 'RCPT TO' ? retry : { ...retry, fault: 'mail_unavailable' })
      }
    },
  }
}

/** Returns nodemailer's fields of an error: its code, the failed command, and the server's reply code. */
function describe(error: unknown): { code: string; command: string; responseCode: number } {
  const fields = new Map<string, unknown>(error instanceof Error ? Object.entries(error) : [])
  const text = (field: unknown) => (typeof field === 'string' ? field : 'none')
  const responseCode = fields.get('responseCode')
  return {
    code: text(fields.get('code')),
    command: text(fields.get('command')),
    responseCode: typeof responseCode === 'number' ? responseCode : 0,
  }
}
