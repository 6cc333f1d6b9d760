import { isLanguage } from '@countersign/protocol/formats/registries/languages'
import { findGroups } from '#accounts/groups/group.ts'
import { readRights } from '#accounts/operators/acting-operator.ts'
import { ApiError } from '#platform/api-error.ts'
import { addSeconds, rest } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import type { Background } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { nextRetryDelay } from '#platform/queue/back-off.ts'
import { createWakeup } from '#platform/queue/wakeup.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { invitationUrl, letterOf } from './invitation-mail.ts'
import * as store from './import-store.ts'
import { noteMailed } from './store.ts'
import { voidReasonOf } from './void.ts'

const wakeup = createWakeup()

/** Wakes the mailing of this process. Other processes look for mails every half minute. */
export const notifyMailing = wakeup.notify

const batch = 20
const restMilliseconds = 30_000
/** Time after which another process attempts mails that were begun. */
const leaseSeconds = 900

/** Mails the invitations of imports, as long as this process runs. Processes share the work by leases. */
export function startMailing({ kernel }: { kernel: ServerContext }): Background {
  const stopped = new AbortController()
  let resting = new AbortController()
  const forget = wakeup.onNotified(() => resting.abort())
  const running = (async () => {
    while (!stopped.signal.aborted) {
      // Before the look: a notification during it must not be lost.
      resting = new AbortController()
      const count = await mailDue(kernel, stopped.signal).catch((error: unknown) =>
        kernel.log.warn({ error }, 'invitations not mailed'),
      )
      if (count !== batch) await rest(restMilliseconds, AbortSignal.any([stopped.signal, resting.signal]))
    }
  })()
  return {
    async stop() {
      forget()
      stopped.abort()
      await running
    },
  }
}

type Leased = Awaited<ReturnType<typeof store.leaseMails>>[number]

/** Mails a batch of invitations that are due. Returns their number. */
export async function mailDue(kernel: ServerContext, stopped?: AbortSignal): Promise<number> {
  const { db, clock } = kernel
  const now = clock()
  const until = addSeconds(now, leaseSeconds)
  const leased = await store.leaseMails(db, { now, until, batch })
  const groups = await findGroups(db, [...new Set(leased.flatMap(({ groupIds }) => groupIds))])
  const heldBy = await readRights(db, leased, now)
  for (const row of leased) {
    if (stopped?.aborted) break
    const own = groups.filter(({ groupId }) => row.groupIds.includes(groupId))
    const isVoid = voidReasonOf({ ...row, groups: own, identityGroups: [], held: heldBy(row) }) !== null
    if (isVoid || row.expiresAt <= now) await store.setMailAt(db, { ...row, until }, null)
    else await mail(kernel, row, until)
  }
  return leased.length
}

/** Mails one invitation. If that fails for now, it is attempted again, up to ten times in three days. */
async function mail({ db, config, mail: mailer, rateLimits, clock, log }: ServerContext, row: Leased, until: Date) {
  const { email, message, language, attempts } = row
  if (email === null) return
  const token = generateToken('accountInvitation')
  try {
    await rateLimits.count('operator-mails-per-address', hashKey(email.toLowerCase()))
    if (!(await store.setLink(db, { ...row, until }, sha256(token)))) return
    const about = {
      message,
      language: isLanguage(language) ? language : 'en',
      url: invitationUrl(config, token),
    } as const
    await mailer.send(letterOf(config, { email, ...about }))
    await noteMailed(db, sha256(token), clock())
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, headers } = error
    log.warn({ reason: code }, 'invitation mail failed')
    const now = clock()
    const delay = code === 'undeliverable' ? undefined : nextRetryDelay(attempts, headers['retry-after'], now)
    await store.setMailAt(db, { ...row, until }, delay === undefined ? null : addSeconds(now, delay))
  }
}
