import { Type, type Static } from 'typebox'
import { endpoint, NoContent, optionalBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ClientId } from '../ids.ts'
import { Timestamp, nullable, Uuid, WebUrl } from '../values.ts'

/** Webhook of an app; disabled if the receiver answered 410. */
export const Webhook = Type.Object({
  url: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('disabled')]),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Webhook = Static<typeof Webhook>

export const WebhookSecret = Type.String({ description: 'whsec_…, in the format of Standard Webhooks' })

/**
 * Reason why there was no status. All connection errors share one value, so that it reveals nothing about the network.
 */
const WebhookFault = Type.Union([
  Type.Literal('could_not_connect'),
  Type.Literal('timed_out'),
  Type.Literal('app_disabled'),
  Type.Literal('not_signed'),
])
export type WebhookFault = Static<typeof WebhookFault>

/** Delivery attempt: the status of the answer, or the reason why there was none. */
export const WebhookAttempt = Type.Object({
  at: Timestamp,
  status: nullable(Type.Integer()),
  reason: nullable(WebhookFault),
})
export type WebhookAttempt = Static<typeof WebhookAttempt>

export const WebhookDelivery = Type.Object({
  deliveryId: Uuid,
  type: Type.String(),
  state: Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')]),
  createdAt: Timestamp,
  nextAttemptAt: nullable(Timestamp),
  attempts: Type.Array(WebhookAttempt),
})
export type WebhookDelivery = Static<typeof WebhookDelivery>

/** Webhook of an app as a document declares it. */
export const DeclaredWebhook = Type.Object(
  {
    url: nullable(Type.String({ minLength: 1, maxLength: 2000, description: 'null: the app has no webhook' })),
    secret: Type.Optional(
      Type.String({
        pattern: '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$',
        writeOnly: true,
        description: 'whsec_ and 24 to 64 random bytes in base64. Another one replaces all secrets of the webhook',
      }),
    ),
  },
  { additionalProperties: false },
)
export type DeclaredWebhook = Static<typeof DeclaredWebhook>

const ByClientId = Type.Object({ clientId: ClientId })
const ByDeliveryId = Type.Object({ clientId: ClientId, deliveryId: Uuid })
const graceSeconds = Type.Integer({ minimum: 0, maximum: limits.clientSecretGraceSecondsMax })

/** Bodies and answers of the operations on webhooks, shared by the admin API and the developer API. */
export const operations = {
  read: { takes: { params: ByClientId }, answers: { 200: Webhook } },
  set: {
    takes: { params: ByClientId, body: Type.Object({ url: WebUrl }, { additionalProperties: false }) },
    answers: { 200: Type.Object({ ...Webhook.properties, secret: Type.Optional(WebhookSecret) }) },
  },
  remove: { takes: { params: ByClientId }, answers: { 204: NoContent } },
  rotateSecret: {
    takes: {
      params: ByClientId,
      body: optionalBody(Type.Object({ graceSeconds: Type.Optional(graceSeconds) }, { additionalProperties: false })),
    },
    answers: { 201: Type.Object({ secret: WebhookSecret, previousUntil: Timestamp }) },
  },
  test: { takes: { params: ByClientId }, answers: { 201: Type.Object({ deliveryId: Uuid }) } },
  listDeliveries: {
    takes: {
      params: ByClientId,
      querystring: Type.Object({
        cursor: Type.Optional(Uuid),
        limit: Type.Optional(
          Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; the default is 50' }),
        ),
      }),
    },
    answers: { 200: Type.Object({ deliveries: Type.Array(WebhookDelivery), nextCursor: nullable(Uuid) }) },
  },
  sendAgain: { takes: { params: ByDeliveryId }, answers: { 200: WebhookDelivery } },
} as const

const reading = { security: 'admin', cors: 'auth host', permission: 'apps.read' } as const
const managing = { ...reading, permission: 'apps.manage' } as const

export const getWebhook = endpoint(
  'GET /api/admin/apps/:clientId/webhook',
  { ...reading, summary: 'Get the webhook of an app' },
  operations.read.takes,
  operations.read.answers,
)

export const setWebhook = endpoint(
  'PUT /api/admin/apps/:clientId/webhook',
  {
    ...managing,
    summary: 'Set the webhook of an app; its secret is returned only the first time. Enables a disabled webhook',
  },
  operations.set.takes,
  operations.set.answers,
)

export const removeWebhook = endpoint(
  'DELETE /api/admin/apps/:clientId/webhook',
  { ...managing, summary: 'Remove the webhook of an app and its pending deliveries' },
  operations.remove.takes,
  operations.remove.answers,
)

export const rotateWebhookSecret = endpoint(
  'POST /api/admin/apps/:clientId/webhook/secret',
  { ...managing, summary: 'Create a new webhook secret, returned only once; the old one also signs for graceSeconds' },
  operations.rotateSecret.takes,
  operations.rotateSecret.answers,
)

export const testWebhook = endpoint(
  'POST /api/admin/apps/:clientId/webhook/test',
  { ...managing, summary: 'Send an event of type webhook.test to the webhook' },
  operations.test.takes,
  operations.test.answers,
)

export const listWebhookDeliveries = endpoint(
  'GET /api/admin/apps/:clientId/webhook/deliveries',
  { ...reading, summary: 'List the webhook deliveries of the last 30 days, newest first' },
  operations.listDeliveries.takes,
  operations.listDeliveries.answers,
)

export const redeliverWebhook = endpoint(
  'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send',
  { ...managing, summary: 'Resend a failed delivery under the same ID' },
  operations.sendAgain.takes,
  operations.sendAgain.answers,
)
