import { Type, type Static } from 'typebox'
import { endpoint, NoContent, optionalBody } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { nullable, Timestamp, Uuid, WebUrl } from '../values.ts'
import { selectableEventTypes } from './webhook-events.ts'
import { operations, WebhookAttempt, WebhookDelivery, WebhookSecret } from './webhooks.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'sinks.manage' } as const
const managing = { ...reading, recentAuthentication: true } as const

const EventTypes = Type.Array(Type.Enum(selectableEventTypes, { type: 'string' }), {
  maxItems: selectableEventTypes.length,
  uniqueItems: true,
  description: 'Types of events. None for all',
})

const Status = Type.Enum(['active', 'disabled'], { type: 'string' })

/** Webhook of the service, which gets the events of all identities and groups. */
export const ServiceWebhook = Type.Object({
  webhookId: Uuid,
  url: Type.String(),
  events: Type.Array(Type.String()),
  status: Status,
  /** Of the newest event that was sent. */
  lastAttempt: nullable(WebhookAttempt),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type ServiceWebhook = Static<typeof ServiceWebhook>

const ByWebhook = Type.Object({ webhookId: Uuid })

export const listServiceWebhooks = endpoint(
  'GET /api/admin/webhooks',
  { ...reading, summary: 'List the webhooks of the service' },
  {},
  { 200: Type.Object({ webhooks: Type.Array(ServiceWebhook) }) },
)

export const createServiceWebhook = endpoint(
  'POST /api/admin/webhooks',
  { ...managing, summary: 'Add a webhook of the service, which gets the events from now on' },
  { body: Type.Object({ url: WebUrl, events: Type.Optional(EventTypes) }, { additionalProperties: false }) },
  { 201: Type.Object({ webhook: ServiceWebhook, secret: WebhookSecret }) },
)

export const getServiceWebhook = endpoint(
  'GET /api/admin/webhooks/:webhookId',
  { ...reading, summary: 'Read a webhook of the service' },
  { params: ByWebhook },
  { 200: ServiceWebhook },
)

export const updateServiceWebhook = endpoint(
  'PATCH /api/admin/webhooks/:webhookId',
  { ...managing, summary: 'Change a webhook of the service, disable it or enable it again' },
  {
    params: ByWebhook,
    body: Type.Object(
      { url: Type.Optional(WebUrl), events: Type.Optional(EventTypes), status: Type.Optional(Status) },
      { additionalProperties: false, minProperties: 1 },
    ),
  },
  { 200: ServiceWebhook },
)

export const deleteServiceWebhook = endpoint(
  'DELETE /api/admin/webhooks/:webhookId',
  { ...managing, summary: 'Remove a webhook of the service and its pending deliveries' },
  { params: ByWebhook },
  { 204: NoContent },
)

export const rotateServiceWebhookSecret = endpoint(
  'POST /api/admin/webhooks/:webhookId/secret',
  {
    ...managing,
    summary: 'Create a new secret of a webhook, returned only once; the old one also signs for graceSeconds',
  },
  {
    params: ByWebhook,
    body: optionalBody(
      Type.Object(
        { graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.clientSecretGraceSecondsMax })) },
        { additionalProperties: false },
      ),
    ),
  },
  operations.rotateSecret.answers,
)

export const testServiceWebhook = endpoint(
  'POST /api/admin/webhooks/:webhookId/test',
  { ...managing, summary: 'Send an event of type service.test to a webhook' },
  { params: ByWebhook },
  operations.test.answers,
)

export const listServiceWebhookDeliveries = endpoint(
  'GET /api/admin/webhooks/:webhookId/deliveries',
  { ...reading, summary: 'List the deliveries of a webhook in the last 30 days, newest first' },
  { params: ByWebhook, querystring: operations.listDeliveries.takes.querystring },
  operations.listDeliveries.answers,
)

export const redeliverServiceWebhook = endpoint(
  'POST /api/admin/webhooks/:webhookId/deliveries/:deliveryId/send',
  { ...managing, summary: 'Resend a failed delivery of a webhook under the same ID' },
  { params: Type.Object({ webhookId: Uuid, deliveryId: Uuid }) },
  { 200: WebhookDelivery },
)
