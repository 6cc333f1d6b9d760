import { type Static, type TObject, Type } from 'typebox'
import { RequestedSignature } from '../signing/signing.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp } from '../values.ts'

type EventParameters = { summary: string; data: TObject }

/**
 * What the status endpoint returns for a request that has ended, and the identity or organization that was asked. An
 * approval is missing if its identity was deleted before the event was sent.
 */
const EndedRequest = Type.Object({
  ...RequestedSignature.properties,
  status: Type.Union([Type.Literal('signed'), Type.Literal('denied'), Type.Literal('expired')]),
  identityId: Type.Optional(IdentityId),
  organizationId: Type.Optional(OrganizationId),
})

/**
 * Events that apps receive by webhook, by their `type` (Standard Webhooks). The types, the OpenAPI document and the SDK
 * are derived from these rows. A row compiles only when a module names it in its `webhookEvents`.
 */
export const webhookEvents = {
  'signing.signed': { summary: 'A user or an organization has signed', data: EndedRequest },
  'signing.denied': { summary: 'A user or an organization has denied to sign', data: EndedRequest },
  'signing.expired': { summary: 'A request expired, or the identity replaced its signing key', data: EndedRequest },
  'webhook.test': { summary: 'A manager of the app has sent a test event', data: Type.Object({ clientId: ClientId }) },
} as const satisfies Record<string, EventParameters>

export type WebhookEventType = keyof typeof webhookEvents
type DataOf<Name extends WebhookEventType> = Static<(typeof webhookEvents)[Name]['data']>

/** An event to an app, before it is sent. */
export type WebhookEvent = {
  [Name in WebhookEventType]: { type: Name; clientId: ClientId; data: DataOf<Name> }
}[WebhookEventType]

/** Schemas of the bodies of webhooks, by event type. */
export const webhookBodies: Record<string, TObject> = Object.fromEntries(
  Object.entries(webhookEvents).map(([type, { summary, data }]) => [
    type,
    Type.Object({ type: Type.Literal(type), timestamp: Timestamp, data }, { description: summary }),
  ]),
)
