import {
  type Health,
  type HealthCheckName,
  healthCheckNames,
  type HealthStatus,
  type Overview,
} from '@countersign/protocol/operations/health'
import { statfs } from 'node:fs/promises'
import { limits } from '@countersign/protocol/formats/limits'
import { addSeconds, type Clock, systemClock } from '#platform/clock.ts'
import { version } from '#platform/config/config.ts'
import type { Database } from '#platform/database/database.ts'
import { listMigrations } from '#platform/database/migrate.ts'
import type { ServerContext } from '#platform/module/services.ts'
import * as store from './store.ts'

/** Result of a check. What the service cannot know is null. */
type Finding = { status: HealthStatus; since: Date | null; message: string; fix: string | null }
type Problem = { message: string; fix: string; since?: Date | null }

const day = 24 * 3600
const backupAgeDaysMax = 7
const tokenNoticeDays = 14
const clockSkewSecondsMax = 5
/** A rotation begins when it is due, and each process looks for that every half minute. */
const rotationDelaySeconds = 3600
/** Each process gives events their places every second. */
const numberingDelaySeconds = 60
/** Free parts of the disk below which the service warns and fails. */
const [freeWarning, freeFailing] = [0.1, 0.02]

/** Checks what the service needs, from what it knows: nothing is sent, and nothing is guessed. */
export async function readHealth(kernel: ServerContext, now: Date, systemTime: Clock = systemClock): Promise<Health> {
  const { db, config } = kernel
  const findings: Record<HealthCheckName, Finding> = {
    ...(await checkDatabase(db, systemTime)),
    disk: await checkDisk(config.dataDirectory),
    mail: checkMail(kernel),
    invitation_mails: await checkInvitationMails(db),
    webhooks: await checkWebhooks(db),
    audit_log: await checkAuditLog(db, now),
    sinks: await checkSinks(db),
    token_signing_keys: await checkKeys(db, now),
    backup: await checkBackup(kernel, now),
    owners: await checkOwners(db, now),
    ...(await checkTokens(db, now)),
  }
  const checks = healthCheckNames.map((name) => {
    const { since, ...finding } = findings[name]
    return { name, ...finding, since: since?.toISOString() ?? null }
  })
  const worst = (['failing', 'warning'] as const).find((status) => checks.some((check) => check.status === status))
  return { status: worst ?? 'ok', version, checks }
}

/** Counts what operators see first. */
export function readOverview(db: Database, now: Date): Promise<Overview> {
  return store.countOverview(db, now)
}

function ok(message: string, since: Date | null = null): Finding {
  return { status: 'ok', since, message, fix: null }
}

function warning({ since = null, ...problem }: Problem): Finding {
  return { status: 'warning', since, ...problem }
}

function failing({ since = null, ...problem }: Problem): Finding {
  return { status: 'failing', since, ...problem }
}

async function checkDatabase(db: Database, systemTime: Clock) {
  const before = systemTime().getTime()
  const { migrations, time } = await store.readDatabase(db)
  const after = systemTime().getTime()
  const known = await listMigrations()
  const newer = migrations.find((name) => !known.includes(name))
  const missing = known.find((name) => !migrations.includes(name))
  const skewSeconds = Math.max(before - time.getTime(), time.getTime() - after) / 1000
  return {
    database: ok('The database answers.'),
    migrations:
      newer !== undefined
        ? failing({
            message: `A newer version has changed the database (${newer}).`,
            fix: 'Run that version on every machine.',
          })
        : missing !== undefined
          ? failing({
              message: `The database lacks ${missing}.`,
              fix: 'Restart the service: it migrates the database.',
            })
          : ok(`All ${known.length} migrations were applied.`),
    clock:
      skewSeconds > clockSkewSecondsMax
        ? warning({
            message: `The clocks of this machine and of the database differ by ${Math.round(skewSeconds)} s.`,
            fix: 'Synchronize the clocks of both machines by NTP.',
          })
        : ok(`The clocks of this machine and of the database differ by at most ${clockSkewSecondsMax} s.`),
  }
}

/** Checks the disk of `DATA_DIR`. That of a PostgreSQL server is not known. */
async function checkDisk(folder: string): Promise<Finding> {
  const found = await statfs(folder).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return ok('DATA_DIR does not exist, and is not needed.')
    return warning({
      message: `The disk of DATA_DIR cannot be read (${found.code ?? 'unknown'}).`,
      fix: 'Check the rights of the folder.',
    })
  }
  const free = found.blocks === 0 ? 1 : found.bavail / found.blocks
  const message = `${Math.floor(free * 100)}% of the disk of DATA_DIR is free.`
  const fix = 'Delete files on this disk, or enlarge it.'
  if (free < freeFailing) return failing({ message, fix })
  return free < freeWarning ? warning({ message, fix }) : ok(message)
}

function checkMail({ config }: Pick<ServerContext, 'config'>): Finding {
  switch (config.mail.by) {
    case 'smtp':
      return ok('A mail server is configured.')
    case 'log':
      return ok('On localhost, mails are shown at /dev/mail.')
    case 'nothing':
      return warning({ message: 'No mail server is configured: no mail is sent.', fix: 'Set SMTP_URL and MAIL_FROM.' })
  }
}

async function checkInvitationMails(db: Database): Promise<Finding> {
  const { count, since } = await store.findFailingMails(db)
  if (count === 0) return ok('No mail of an imported invitation fails.')
  return warning({
    since,
    message: `Imported invitations whose mail fails, and is attempted again: ${count}.`,
    fix: "Read 'mail delivery failed' in the log of the service, and check SMTP_URL.",
  })
}

async function checkWebhooks(db: Database): Promise<Finding> {
  const { count, since } = await store.findFailingWebhooks(db)
  if (count === 0) return ok('No delivery fails repeatedly.')
  return warning({
    since,
    message: `Webhooks to which deliveries fail, and are attempted again: ${count}.`,
    fix: "See why: countersign webhooks deliveries, and 'webhook delivery failed' in the log of the service.",
  })
}

async function checkAuditLog(db: Database, now: Date): Promise<Finding> {
  const since = (await store.findFirstUnnumbered(db)) ?? null
  if (since === null || addSeconds(since, numberingDelaySeconds) >= now) return ok('All events have their places.')
  return warning({
    since,
    message: 'Events of the audit log wait for their places. No sink gets them until then.',
    fix: "Read 'audit events not numbered' in the log of the service.",
  })
}

async function checkSinks(db: Database): Promise<Finding> {
  const { count, since } = await store.findFailingSinks(db)
  if (count === 0) return ok('No sink of the audit log fails repeatedly.')
  return warning({
    since,
    message: `Sinks of the audit log that do not get events: ${count}.`,
    fix: "See why: countersign sinks list, and 'audit events not delivered' in the log of the service.",
  })
}

async function checkKeys(db: Database, now: Date): Promise<Finding> {
  const activatedAt = await store.findKeysActivated(db)
  const fix = "Rotate them: countersign keys rotate. Read 'maintenance task failed' in the log of the service."
  if (!activatedAt) return failing({ message: 'There are no token-signing keys.', fix })
  const dueAt = addSeconds(activatedAt, limits.signingKeyPeriodSeconds - limits.signingKeyScheduledLeadSeconds)
  if (now <= addSeconds(dueAt, rotationDelaySeconds))
    return ok(`The next rotation is due at ${dueAt.toISOString()}.`, activatedAt < now ? activatedAt : null)
  return warning({ since: dueAt, message: 'The rotation of the token-signing keys is overdue.', fix })
}

/** Checks the age of the last backup by this service. Those of a PostgreSQL server are not known. */
async function checkBackup({ db, config }: ServerContext, now: Date): Promise<Finding> {
  const since = (await store.findLastBackup(db)) ?? null
  const isRecent = since !== null && addSeconds(since, backupAgeDaysMax * day) >= now
  if (isRecent) return ok('A backup was created in the last seven days.', since)
  // Version 0.1.0 recorded only that a backup began, which may have ended before it was complete.
  const none = 'No completed backup is known. Those of version 0.1.0 do not count.'
  const message = since === null ? none : 'The last backup is older than seven days.'
  if (config.databaseUrl) return ok(`${message} Backups by PostgreSQL are not known here.`, since)
  return warning({ since, message, fix: 'Create one, and keep it on another machine: countersign backup.' })
}

async function checkOwners(db: Database, now: Date): Promise<Finding> {
  const count = await store.countOwners(db, now)
  if (count > 1) return ok(`There are ${count} owners.`)
  if (count === 0)
    return warning({
      message: 'There is no owner who can sign in.',
      fix: 'Open the setup link, or add one: countersign operators add <username> --role owner.',
    })
  return warning({
    message: 'There is one owner. If they lose their passkeys, no one else can manage operators.',
    fix: 'Add a second owner: countersign operators add <username> --role owner.',
  })
}

async function checkTokens(db: Database, now: Date) {
  const until = addSeconds(now, tokenNoticeDays * day)
  return {
    admin_tokens: expiryOf(await store.countExpiringAdminTokens(db, now, until), 'Admin', 'tokens'),
    scim_tokens: expiryOf(await store.countExpiringScimTokens(db, now, until), 'SCIM', 'scim-tokens'),
  }
}

function expiryOf({ count, since: next }: store.Failing, kind: string, command: string): Finding {
  const soon = `in the next ${tokenNoticeDays} days`
  if (count === 0) return ok(`${kind} tokens that expire ${soon}: none.`)
  return warning({
    message: `${kind} tokens that expire ${soon}: ${count}, the first at ${next?.toISOString()}.`,
    fix: `Rotate those that are in use: countersign ${command} rotate.`,
  })
}
