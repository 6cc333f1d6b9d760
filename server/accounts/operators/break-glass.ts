import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { ApiError } from '#platform/api-error.ts'
import { isReadOnly } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { auditFieldsOf } from './acting-operator.ts'
import { breakGlassMail } from './break-glass-mail.ts'
import * as store from './store.ts'

const hourMilliseconds = 3_600_000

/** Hours in which this process has recorded the use of ADMIN_TOKEN. */
const notedHours = new WeakMap<ServerContext['db'], number>()

/**
 * Records the use of ADMIN_TOKEN, once an hour of each process, and mails it to the owners, once an hour of the
 * service. The request does not wait for the mails: ADMIN_TOKEN is needed most when other things fail. A read-only
 * database stays readable.
 */
export async function noteBreakGlass(context: ServerContext, now: Date): Promise<void> {
  const { db, config } = context
  const hour = Math.floor(now.getTime() / hourMilliseconds)
  if (notedHours.get(db) === hour) return
  try {
    const operator = auditFieldsOf({ actor: 'operator', kind: 'break_glass' })
    await recordAuditEvent(db, { action: 'admin_token.break_glass_used', ...operator }, now)
    notedHours.set(db, hour)
    if (config.mail.by === 'nothing') return
    const owners = await store.claimOwnersToMail(db, { since: new Date(now.getTime() - hourMilliseconds), now })
    for (const { email } of owners) void send(context, breakGlassMail({ to: email, config, now }))
  } catch (error) {
    if (!isReadOnly(error)) throw error
  }
}

async function send({ mail, log }: ServerContext, notice: Mail): Promise<void> {
  try {
    await mail.send(notice)
  } catch (error) {
    log.warn(error instanceof ApiError ? { reason: error.code } : { err: error }, 'mail about ADMIN_TOKEN failed')
  }
}
