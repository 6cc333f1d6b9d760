import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import type { Clock } from '#platform/clock.ts'

/** A mail that was not sent, for the developer who runs the service. `at` is an ISO time. */
export type DevelopmentMail = { id: string; at: string; to: string; subject: string; text: string }

/** Mails of a service on localhost without a mail server. Every worker process has all of them. */
export type DevelopmentInbox = {
  receive: (mail: Pick<DevelopmentMail, 'to' | 'subject' | 'text'>) => void
  /** Returns the mails, latest first. */
  list: () => readonly DevelopmentMail[]
}

const mailsMax = 100
const textCharactersMax = 20_000

/** Creates the inbox of a process, in its memory. A worker shares its mails through the primary process. */
export function openDevelopmentInbox(clock: Clock): DevelopmentInbox {
  const mails: DevelopmentMail[] = []
  if (cluster.isWorker)
    process.on('message', (message: unknown) => {
      const shared = sharedMailIn(message)
      if (shared) keep(mails, shared)
    })
  return {
    receive({ to, subject, text }) {
      const received = {
        id: randomUUID(),
        at: clock().toISOString(),
        to,
        subject,
        text: text.slice(0, textCharactersMax),
      }
      keep(mails, received)
      if (cluster.isWorker) process.send?.({ developmentMail: received })
    },
    list: () => mails,
  }
}

type Receiver = { send: (message: { developmentMail: DevelopmentMail }) => void }

/** Passes the mails of each worker to all others, also to one that is restarted later. */
export function createMailRelay() {
  const mails: DevelopmentMail[] = []
  return {
    /** Handles a message of a worker. */
    pass(message: unknown, others: Receiver[]): void {
      const developmentMail = sharedMailIn(message)
      if (!developmentMail) return
      keep(mails, developmentMail)
      for (const other of others) other.send({ developmentMail })
    },
    /** Sends a new worker what the others have. */
    introduce(worker: Receiver): void {
      for (const developmentMail of mails.toReversed()) worker.send({ developmentMail })
    },
  }
}

function keep(mails: DevelopmentMail[], mail: DevelopmentMail): void {
  mails.unshift(mail)
  if (mails.length > mailsMax) mails.pop()
}

/** Returns the mail of a message between our processes. Other messages of theirs have none. */
function sharedMailIn(message: unknown): DevelopmentMail | undefined {
  const isShared = typeof message === 'object' && message !== null && 'developmentMail' in message
  return isShared && isMail(message.developmentMail) ? message.developmentMail : undefined
}

function isMail(value: unknown): value is DevelopmentMail {
  const fields = new Map(Object.entries(value ?? {}))
  return ['id', 'at', 'to', 'subject', 'text'].every((name) => typeof fields.get(name) === 'string')
}
