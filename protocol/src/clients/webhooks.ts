import { Type, type Static } from 'typebox'
import { endpoint, Nothing, orNoBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { ClientId, Instant, OrNull, Uuid, WebUrl } from '../values.ts'

/** Where an app hears of what happened; disabled where the receiver answered 410. */
export const Webhook = Type.Object({
  url: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('disabled')]),
  createdAt: Instant,
  updatedAt: Instant,
})
export type Webhook = Static<typeof Webhook>

const WebhookSecret = Type.String({ description: 'whsec_…, as Standard Webhooks writes it' })

/** Why no status was answered. One word for all that a connection fails by: it must not tell what stands where. */
const WebhookFault = Type.Union([
  Type.Literal('could_not_connect'),
  Type.Literal('timed_out'),
  Type.Literal('app_disabled'),
  Type.Literal('not_signed'),
])
export type WebhookFault = Static<typeof WebhookFault>

/** One attempt: the status that was answered, or why none was. */
export const WebhookAttempt = Type.Object({
  at: Instant,
  status: OrNull(Type.Integer()),
  reason: OrNull(WebhookFault),
})
export type WebhookAttempt = Static<typeof WebhookAttempt>

export const WebhookDelivery = Type.Object({
  deliveryId: Uuid,
  type: Type.String(),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('delivered'), Type.Literal('failed')]),
  createdAt: Instant,
  nextAttemptAt: OrNull(Instant),
  attempts: Type.Array(WebhookAttempt),
})
export type WebhookDelivery = Static<typeof WebhookDelivery>

const ByClientId = Type.Object({ clientId: ClientId })
const ByDeliveryId = Type.Object({ clientId: ClientId, deliveryId: Uuid })
const graceSeconds = Type.Integer({ minimum: 0, maximum: limits.clientSecretGraceSecondsMax })

/** What each operation on the webhook of an app takes and answers, whoever may ask for it. */
export const operations = {
  read: { takes: { params: ByClientId }, answers: { 200: Webhook } },
  set: {
    takes: { params: ByClientId, body: Type.Object({ url: WebUrl }, { additionalProperties: false }) },
    answers: { 200: Type.Object({ ...Webhook.properties, secret: Type.Optional(WebhookSecret) }) },
  },
  remove: { takes: { params: ByClientId }, answers: { 204: Nothing } },
  rotateSecret: {
    takes: {
      params: ByClientId,
      body: orNoBody(Type.Object({ graceSeconds: Type.Optional(graceSeconds) }, { additionalProperties: false })),
    },
    answers: { 201: Type.Object({ secret: WebhookSecret, previousUntil: Instant }) },
  },
  test: { takes: { params: ByClientId }, answers: { 201: Type.Object({ deliveryId: Uuid }) } },
  listDeliveries: {
    takes: {
      params: ByClientId,
      querystring: Type.Object({
        cursor: Type.Optional(Uuid),
        limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 unless given' })),
      }),
    },
    answers: { 200: Type.Object({ deliveries: Type.Array(WebhookDelivery), nextCursor: OrNull(Uuid) }) },
  },
  sendAgain: { takes: { params: ByDeliveryId }, answers: { 200: WebhookDelivery } },
} as const

const admin = { security: 'admin', cors: 'no origin' } as const

export const readWebhook = endpoint(
  'GET /api/admin/apps/:clientId/webhook',
  { ...admin, summary: 'Read where an app hears of what happened' },
  operations.read.takes,
  operations.read.answers,
)

export const setWebhook = endpoint(
  'PUT /api/admin/apps/:clientId/webhook',
  { ...admin, summary: 'Set it; the first time its secret is shown, this once. What was disabled is active again' },
  operations.set.takes,
  operations.set.answers,
)

export const removeWebhook = endpoint(
  'DELETE /api/admin/apps/:clientId/webhook',
  { ...admin, summary: 'Remove it, with what is still to be delivered' },
  operations.remove.takes,
  operations.remove.answers,
)

export const rotateWebhookSecret = endpoint(
  'POST /api/admin/apps/:clientId/webhook/secret',
  { ...admin, summary: 'Give it a new secret, shown this once; the old one signs beside it for graceSeconds more' },
  operations.rotateSecret.takes,
  operations.rotateSecret.answers,
)

export const testWebhook = endpoint(
  'POST /api/admin/apps/:clientId/webhook/test',
  { ...admin, summary: 'Send it an event of the type webhook.test' },
  operations.test.takes,
  operations.test.answers,
)

export const listWebhookDeliveries = endpoint(
  'GET /api/admin/apps/:clientId/webhook/deliveries',
  { ...admin, summary: 'What it was sent in the last 30 days, newest first' },
  operations.listDeliveries.takes,
  operations.listDeliveries.answers,
)

export const sendWebhookAgain = endpoint(
  'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send',
  { ...admin, summary: 'Send again what was given up, under its id' },
  operations.sendAgain.takes,
  operations.sendAgain.answers,
)
