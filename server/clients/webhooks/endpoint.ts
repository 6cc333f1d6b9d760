import type { Webhook } from '@countersign/protocol/clients/webhooks'
import { readApp } from '#clients/registration/app.ts'
import { byline, requirePresence, stewardTransaction, type Sought } from '#clients/registration/steward.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { addSecret } from './secret.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_request: [400, 'The URL of the webhook is not acceptable.'],
  webhook_not_found: [404, 'This app has no webhook.'],
})

/** Where an app hears of what happened. Refuses `app_not_found`, `webhook_not_found`. */
export async function readWebhook(db: Database, sought: Sought): Promise<Webhook> {
  await readApp(db, sought)
  return toWebhook(requireFound(await store.findEndpoint(db, sought.clientId)))
}

/** The same of an app that is known to be looked after by whoever asks; null where it has none. */
export async function findWebhook(db: Database, clientId: string): Promise<Webhook | null> {
  const found = await store.findEndpoint(db, clientId)
  return found ? toWebhook(found) : null
}

/**
 * Sets where an app hears of what happened. The first time it gets a secret, which is told this once. Refuses
 * `invalid_request`, `app_not_found`, `reauthentication_required`.
 */
export async function setWebhook(
  { db, keyring, outbound }: Pick<Kernel, 'db' | 'keyring' | 'outbound'>,
  { steward, clientId }: Sought,
  url: string,
  now: Date,
): Promise<Webhook & { secret?: string }> {
  const objection = outbound.objectionTo(url)
  if (objection !== undefined) throw refuse.invalid_request({ sentence: `The URL of a webhook ${objection}.` })
  await readApp(db, { steward, clientId })
  requirePresence(steward, now)

  return stewardTransaction(db, steward, async (tx) => {
    const inserted = await store.insertEndpoint(tx, clientId, url, now)
    const endpoint = requireFound(inserted ?? (await store.updateEndpoint(tx, clientId, url, now)))
    // The path may be a secret of the receiver's.
    const details = { origin: new URL(url).origin }
    await record(tx, { action: 'app.webhook_set', ...byline(steward), clientId, details }, now)
    return { ...toWebhook(endpoint), ...(inserted && { secret: await addSecret(tx, keyring, clientId, now) }) }
  })
}

/** Removes it, with its secrets and what was still to be delivered. Refuses `app_not_found`, `webhook_not_found`. */
export async function removeWebhook(db: Database, { steward, clientId }: Sought, now: Date): Promise<void> {
  await readApp(db, { steward, clientId })
  await stewardTransaction(db, steward, async (tx) => {
    if (!(await store.removeEndpoint(tx, clientId))) throw refuse.webhook_not_found()
    await record(tx, { action: 'app.webhook_removed', ...byline(steward), clientId }, now)
  })
}

/** Sends nothing more to a URL whose receiver says that it is gone, until somebody sets the webhook again. */
export async function disableWebhook(tx: Transaction, clientId: string, url: string, now: Date): Promise<void> {
  const disabled = await store.disableEndpoint(tx, clientId, url, now)
  if (!disabled) return
  await store.failWaiting(tx, clientId)
  const { ownerUserId } = disabled
  const owner = ownerUserId === null ? {} : { userId: ownerUserId }
  await record(tx, { action: 'app.webhook_disabled', actor: 'system', ...owner, clientId }, now)
}

type Endpoint = NonNullable<Awaited<ReturnType<typeof store.findEndpoint>>>

function requireFound(found: Endpoint | undefined): Endpoint {
  if (!found) throw refuse.webhook_not_found()
  return found
}

function toWebhook({ url, disabledAt, createdAt, updatedAt }: Endpoint): Webhook {
  return {
    url,
    status: disabledAt ? 'disabled' : 'active',
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
