import { pruneDescribed } from '#clients/registration/described-app.ts'
import { pruneSecrets } from '#clients/registration/secret.ts'
import { pruneDelegations } from '#oauth/delegation/delegation.ts'
import { pruneDeviceApprovals } from '#accounts/keys/device-approval.ts'
import { pruneContinuations } from '#oauth/fedcm/continuation.ts'
import { pruneEmailProofs } from '#accounts/identities/email.ts'
import { pruneHandles } from '#accounts/identities/handle.ts'
import type { Kernel } from '#platform/module/services.ts'
import * as rateLimitsStore from '#platform/rate-limits/store.ts'
import { rest } from '#platform/rest.ts'
import { pruneInvitations } from '#organizations/members/invitation.ts'
import { pruneSlugs } from '#organizations/members/slug.ts'
import { prunePushed } from '#oauth/authorize/pushed-request.ts'
import { recheckDomains } from '#organizations/domains/domain-check.ts'
import { resealOrganizationKeys } from '#organizations/keys/custody.ts'
import { pruneFlows } from '#accounts/passkeys/flow.ts'
import { pruneLinks } from '#sso/sign-in/arrival.ts'
import { resealClientSecrets } from '#sso/connections/client.ts'
import { pruneEncryptionKeys, resealEncryptionKeys } from '#sso/connections/encryption-key.ts'
import { pruneAssertions, pruneFlows as pruneSsoFlows } from '#sso/sign-in/flow.ts'
import { pruneNotes } from '#accounts/sessions/sso-session.ts'
import { noteOpeningOrganizations } from '#accounts/sessions/ending.ts'
import { deleteFormerlySlow, pruneAppSessions } from '#accounts/sessions/logout.ts'
import { pruneSessions } from '#accounts/sessions/session.ts'
import { logEarlierKeys } from '#signing/keys/key-log.ts'
import { expireOrganizationRequests, pruneOrganizationRequests } from '#signing/requests/organization-request.ts'
import { pruneRecords } from '#signing/requests/quota.ts'
import { expireFormerRequests, expireRequests, pruneRequests } from '#signing/requests/request.ts'
import { pruneKeys, rotateKeysWhenDue } from '#tokens/signing-keys/key-rotation.ts'
import { pruneTokens } from '#tokens/families/family.ts'
import { advanceLog, resealLogKey } from '#signing/transparency/log.ts'
import { pruneDeliveries } from '#clients/webhooks/delivery.ts'
import { pruneWebhookSecrets, resealSecrets } from '#clients/webhooks/secret.ts'

/** Deletes up to `batch` rows that have ended by `now`, and says how many there were. */
type Sweep = (db: Kernel['db'], now: Date, batch: number) => Promise<number>

const sweeps: Record<string, Sweep> = {
  flows: pruneFlows,
  sessions: pruneSessions,
  'sessions that apps know': pruneAppSessions,
  'apps that were slow to take logout tokens': deleteFormerlySlow,
  'sessions of organizations that are not noted': noteOpeningOrganizations,
  'what is noted of sessions': pruneNotes,
  'sign-ins with organizations': pruneSsoFlows,
  'assertions of organizations': pruneAssertions,
  'keys that assertions were encrypted to': pruneEncryptionKeys,
  'links of members who are gone': pruneLinks,
  'device approvals': pruneDeviceApprovals,
  'e-mail proofs': pruneEmailProofs,
  handles: pruneHandles,
  'slugs of organizations': pruneSlugs,
  'client secrets': pruneSecrets,
  'webhook secrets': pruneWebhookSecrets,
  'apps that described themselves': pruneDescribed,
  webhooks: pruneDeliveries,
  tokens: pruneTokens,
  delegations: pruneDelegations,
  'signing keys': pruneKeys,
  'invitations to organizations': pruneInvitations,
  'pushed requests': prunePushed,
  'sign-ins that browsers mediate': pruneContinuations,
  'signing requests that expired': expireRequests,
  'signing requests of deleted identities that expired': expireFormerRequests,
  'signing requests that led to nothing': pruneRequests,
  'records of signing requests': pruneRecords,
  'signing requests to organizations that expired': expireOrganizationRequests,
  'signing requests to organizations that led to nothing': pruneOrganizationRequests,
  'rate limits': rateLimitsStore.pruneRateLimits,
}

/** What is due once in a while. It happens once, whichever processes try. */
const duties: Record<string, (kernel: Kernel, now: Date) => Promise<void>> = {
  'rotating the signing keys': rotateKeysWhenDue,
  'logging the keys of before the log': logEarlierKeys,
  'advancing the log of signing keys': advanceLog,
  'sealing the key of the log by the present key': resealLogKey,
  'sealing webhook secrets by the present key': resealSecrets,
  'sealing client secrets by the present key': resealClientSecrets,
  'sealing keys that assertions are encrypted to by the present key': resealEncryptionKeys,
  'sealing keys of organizations by the present key': resealOrganizationKeys,
  'looking for the proofs of domains': recheckDomains,
}
/** How many rows a statement takes at first, and at most; and for how long it may hold what others wait for. */
const batchMin = 500
const batchMax = 20_000
const statementMilliseconds = 50
/** For how long one sweep may go on alone before the others have their turn. */
const turnMilliseconds = 10_000
const restMilliseconds = 30_000
const breathMilliseconds = 10

export type Jobs = { stop: () => Promise<void> }

/**
 * Sweeps what has ended, in batches so small that no request waits for them. A sweep that finds its batch full is
 * repeated alone, with a batch that grows as long as it is quick: rows are taken away faster than they are added. When
 * all is gone there is a rest. What is due is done before. What fails is logged and tried again after the rest.
 */
export function startJobs(kernel: Kernel): Jobs {
  const { db, clock, log } = kernel
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await performDuties(kernel, clock())
      const full = await sweepAll({ db, clock, log }, stopped.signal)
      await rest(full ? breathMilliseconds : restMilliseconds, stopped.signal)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

async function performDuties(kernel: Kernel, now: Date): Promise<void> {
  for (const [what, perform] of Object.entries(duties)) {
    try {
      await perform(kernel, now)
    } catch (error) {
      kernel.log.warn({ error, what }, 'a duty failed')
    }
  }
}

type Sweeping = Pick<Kernel, 'db' | 'clock' | 'log'>

/** Gives each sweep its turn; true when there is more of any than it could take away. */
async function sweepAll({ db, clock, log }: Sweeping, stopped: AbortSignal): Promise<boolean> {
  let full = false
  for (const [what, sweep] of Object.entries(sweeps)) {
    try {
      full = (await sweepOut((batch) => sweep(db, clock(), batch), stopped)) || full
    } catch (error) {
      log.warn({ error, what }, 'a sweep failed')
    }
  }
  return full
}

/** Repeats a sweep until a batch is not full, or its turn is over; true when more is left. */
async function sweepOut(sweep: (batch: number) => Promise<number>, stopped: AbortSignal): Promise<boolean> {
  const turnEndsAt = performance.now() + turnMilliseconds
  for (let batch = batchMin; !stopped.aborted;) {
    const startedAt = performance.now()
    if ((await sweep(batch)) < batch) return false
    const endedAt = performance.now()
    if (endedAt >= turnEndsAt) return true
    // Halfway to what would have taken just as long as it may: one slow statement alone says little.
    const fitting = (batch * statementMilliseconds) / (endedAt - startedAt)
    batch = Math.round(Math.min(batchMax, Math.max(batchMin, (batch + fitting) / 2)))
    // As long as the statement took: on one connection, as the embedded database has, requests get half of the time.
    await rest(Math.max(breathMilliseconds, endedAt - startedAt), stopped)
  }
  return true
}
