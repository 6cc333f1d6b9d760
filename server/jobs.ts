import { pruneDescribed } from '#apps/described-app.ts'
import { pruneSecrets } from '#apps/secret.ts'
import { pruneDelegations } from '#delegation/grant.ts'
import { pruneDeviceApprovals } from '#encryption/device-approval.ts'
import { pruneContinuations } from '#fedcm/continuation.ts'
import { pruneEmailProofs } from '#identity/email.ts'
import { pruneHandles } from '#identity/handle.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { pruneRateLimits } from '#kernel/rate-limit-store.ts'
import { rest } from '#kernel/rest.ts'
import { pruneInvitations } from '#organizations/invitation.ts'
import { prunePushed } from '#oauth/pushed-request.ts'
import { recheckDomains } from '#organizations/domain-check.ts'
import { resealOrganizationKeys } from '#organizations/key-custody.ts'
import { pruneFlows } from '#passkeys/flow.ts'
import { pruneLinks } from '#sso/arrival.ts'
import { resealClientSecrets } from '#sso/client.ts'
import { pruneEncryptionKeys, resealEncryptionKeys } from '#sso/encryption-key.ts'
import { pruneAssertions, pruneFlows as pruneSsoFlows } from '#sso/flow.ts'
import { pruneSessions } from '#sessions/session.ts'
import { logEarlierKeys } from '#signing/key-log.ts'
import { expireOrganizationRequests, pruneOrganizationRequests } from '#signing/organization-request.ts'
import { expireRequests, pruneRequests } from '#signing/request.ts'
import { pruneKeys, rotateKeysWhenDue } from '#tokens/key-rotation.ts'
import { pruneTokens } from '#tokens/lineage.ts'
import { advanceLog, resealLogKey } from '#transparency/log.ts'
import { pruneDeliveries } from '#webhooks/delivery.ts'
import { pruneWebhookSecrets, resealSecrets } from '#webhooks/secret.ts'

/** Deletes up to `batch` rows that have ended by `now`, and says how many there were. */
type Sweep = (db: Kernel['db'], now: Date, batch: number) => Promise<number>

const sweeps: Record<string, Sweep> = {
  flows: pruneFlows,
  sessions: pruneSessions,
  'sign-ins with organizations': pruneSsoFlows,
  'assertions of organizations': pruneAssertions,
  'keys that assertions were encrypted to': pruneEncryptionKeys,
  'links of members who are gone': pruneLinks,
  'device approvals': pruneDeviceApprovals,
  'e-mail proofs': pruneEmailProofs,
  handles: pruneHandles,
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
  'signing requests that led to nothing': pruneRequests,
  'signing requests to organizations that expired': expireOrganizationRequests,
  'signing requests to organizations that led to nothing': pruneOrganizationRequests,
  'rate limits': pruneRateLimits,
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
const batch = 500
const restMilliseconds = 30_000
const breathMilliseconds = 50

export type Jobs = { stop: () => Promise<void> }

/**
 * Sweeps what has ended, in small batches so that no request waits for it: as long as there is more, one batch after
 * another; then a rest. What is due is done before. What fails is logged and tried again after the rest.
 */
export function startJobs(kernel: Kernel): Jobs {
  const { db, clock, log } = kernel
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await performDuties(kernel, clock())
      const full = await sweepAll(db, clock(), log)
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

/** Sweeps one batch of everything; true when any of them was full, so that more is likely left. */
async function sweepAll(db: Kernel['db'], now: Date, log: Kernel['log']): Promise<boolean> {
  let full = false
  for (const [what, sweep] of Object.entries(sweeps)) {
    try {
      full = (await sweep(db, now, batch)) >= batch || full
    } catch (error) {
      log.warn({ error, what }, 'a sweep failed')
    }
  }
  return full
}
