import type { DeclaredWebhook } from '@countersign/protocol/clients/webhooks'
import type { ClientId } from '@countersign/protocol/ids'
import { findWebhook, removeWebhook, setWebhook } from '#clients/webhooks/endpoint.ts'
import { isCurrentSecret, setWebhookSecret } from '#clients/webhooks/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Applying, Field } from '../plan.ts'

const errors = defineErrors({ invalid_request: [400, 'A webhook without url has no secret.'] })

const [urlPath, secretPath] = ['webhook.url', 'webhook.secret']

type Desired = DeclaredWebhook | undefined

/** Returns what a document changes of the webhook of an app. The values of its secret are nowhere. */
export async function compareWebhook(applying: Applying, clientId: ClientId, desired: Desired): Promise<Field[]> {
  if (desired === undefined) return []
  const { kernel, tx } = applying
  const { url, secret } = desired
  if (url === null && secret !== undefined) throw errors.invalid_request()
  const before = (await findWebhook(tx, clientId))?.url ?? null
  const moved = before === url ? [] : [{ path: urlPath, from: before, to: url }]
  const isSame = secret === undefined || (await isCurrentSecret({ ...kernel, db: tx }, clientId, secret))
  return isSame ? moved : [...moved, { path: secretPath, from: null, to: null }]
}

/** Makes the changes of `compareWebhook`. Throws as the endpoints of webhooks. */
export async function changeWebhook(
  { kernel, tx, operator: manager, now }: Applying,
  clientId: ClientId,
  desired: Desired,
  fields: Field[],
): Promise<void> {
  if (!desired) return
  const ref = { manager, clientId }
  const context = { ...kernel, db: tx }
  const paths = new Set(fields.map(({ path }) => path))
  const { url } = desired
  const secret = paths.has(secretPath) ? desired.secret : undefined
  if (url !== null && paths.has(urlPath)) await setWebhook(context, ref, { url, secret }, now)
  else if (url === null && paths.has(urlPath)) await removeWebhook(tx, ref, now)
  else if (secret !== undefined) await setWebhookSecret(context, ref, secret, now)
}
