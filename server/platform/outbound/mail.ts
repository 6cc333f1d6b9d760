import type { MailSetting } from '#platform/config/config.ts'
import { isLocal } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { whileIdle } from '#platform/idle.ts'
import type { Logger } from '#platform/observability/log.ts'
import { refusals } from '#platform/refusal.ts'
import type { Secret } from '#platform/crypto/secret.ts'

/** A message in plain text to one address. */
export type Mail = { to: string; subject: string; text: string }

export type Mailer = {
  /** Refuses `mail_not_set_up` where this service sends no mail: what needs mail asks before it does anything. */
  require: () => void
  /**
   * Hands a message over; it has been accepted when this resolves. Never inside of a transaction, which would wait for
   * a server of somebody else's. Refuses `mail_not_set_up`, `temporarily_unavailable`, `undeliverable`.
   */
  send: (mail: Mail) => Promise<void>
}

const refuse = refusals({
  mail_not_set_up: [503, 'This service sends no mail. Its operator can set SMTP_URL and MAIL_FROM.'],
  temporarily_unavailable: [503, 'The mail could not be sent. Try again in a moment.'],
  undeliverable: [400, 'The mail server takes no mail for this address.'],
})

const retryAfterSeconds = 30
const connectWithinMilliseconds = 5000
const answerWithinMilliseconds = 10_000

/** What it sends by is loaded only where it sends: many a service knows no mail server. */
export async function createMailer(setting: MailSetting, log: Logger): Promise<Mailer> {
  switch (setting.by) {
    case 'smtp':
      return smtpMailer(setting, log)
    case 'log':
      return {
        require() {},
        async send(mail) {
          log.info({ mail }, 'a mail, which nobody else sees while SMTP_URL is unset')
        },
      }
    case 'nothing':
      return {
        require() {
          throw refuse.mail_not_set_up()
        },
        async send() {
          throw refuse.mail_not_set_up()
        },
      }
  }
}

async function smtpMailer({ url, from }: { url: Secret; from: string }, log: Logger): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const { protocol, hostname, port, username, password } = new URL(url.reveal())
  const secure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password is never sent in clear, but to this very machine.
    requireTLS: !secure && username !== '' && !isLocal({ hostname }),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: connectWithinMilliseconds,
    greetingTimeout: connectWithinMilliseconds,
    socketTimeout: answerWithinMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    require() {},
    async send({ to, subject, text }) {
      // The address goes as an object: a text would be parsed, and might name several.
      const message = { from, to: { name: '', address: to }, subject, text }
      try {
        const headers = { 'auto-submitted': 'auto-generated' }
        await whileIdle(() => allowEgress('mail', () => transport.sendMail({ ...message, headers })))
      } catch (error) {
        const { code, command, responseCode } = describe(error)
        // What the server says in words may quote the address.
        log.warn({ smtp: code, command, responseCode }, 'a mail could not be sent')
        if (command === 'RCPT TO' && responseCode >= 500) throw refuse.undeliverable()
        throw refuse.temporarily_unavailable({ headers: { 'retry-after': String(retryAfterSeconds) } })
      }
    },
  }
}

/** How nodemailer names what went wrong: its own code, the command that failed, and the server's reply. */
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
