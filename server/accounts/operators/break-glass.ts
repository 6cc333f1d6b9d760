import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { ApiError } from '#platform/api-error.ts'
import { isReadOnly } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { auditFieldsOf } from './acting-operator.ts'
import { breakGlassMail } from './break-glass-mail.ts'
import * as store from './store.ts'

const hourMilliseconds = 3_600_000
const minuteMilliseconds = 60_000

/** The hour in which this process last recorded the use of ADMIN_TOKEN, and the minute in which it last mailed it. */
const noted = new WeakMap<ServerContext['db'], { hour: number; minute: number }>()

/**
 * Records the use of ADMIN_TOKEN, once an hour of each process, and mails it to the owners who were not mailed within
 * an hour, which it asks once a minute. The request does not wait for the mails: ADMIN_TOKEN is needed most when other
 * things fail. A read-only database stays readable.
 */
export async function noteBreakGlass(context: ServerContext, now: Date): Promise<void> {
  const { db } = context
  const [hour, minute] = [hourMilliseconds, minuteMilliseconds].map((each) => Math.floor(now.getTime() / each))
  const last = noted.get(db)
  if (hour === undefined || minute === undefined || last?.minute === minute) return
  try {
    if (last?.hour !== hour) {
      const operator = auditFieldsOf({ actor: 'operator', kind: 'break_glass' })
      await recordAuditEvent(db, { action: 'admin_token.break_glass_used', ...operator }, now)
    }
    noted.set(db, { hour, minute })
    await mailOwners(context, now)
  } catch (error) {
    if (!isReadOnly(error)) throw error
  }
}

async function mailOwners(context: ServerContext, now: Date): Promise<void> {
  const { db, config } = context
  if (config.mail.by === 'nothing') return
  const owners = await store.claimOwnersToMail(db, { since: new Date(now.getTime() - hourMilliseconds), now })
  for (const { email } of owners) void send(context, breakGlassMail({ to: email, config, now }))
}

async function send({ mail, log }: ServerContext, notice: Mail): Promise<void> {
  try {
    await mail.send(notice)
  } catch (error) {
    log.warn(error instanceof ApiError ? { reason: error.code } : { err: error }, 'mail about ADMIN_TOKEN failed')
  }
}
