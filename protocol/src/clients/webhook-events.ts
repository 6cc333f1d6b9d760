import { type Static, type TObject, Type } from 'typebox'
import { RequestedSignature } from '../signing/signing.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, Uuid } from '../values.ts'

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

/** Who did what an event reports: the user, an operator, or the service at a time that was set before. */
const Actor = Type.Union([Type.Literal('self'), Type.Literal('operator'), Type.Literal('system')])
export type EventActor = Static<typeof Actor>

/** Claims that depend on what a user or an operator can edit. */
const EditedClaim = Type.Union([
  Type.Literal('name'),
  Type.Literal('preferred_username'),
  Type.Literal('picture'),
  Type.Literal('email'),
])
export type EditedClaim = Static<typeof EditedClaim>

/** What all events of an identity have. Retries outlive the identity, so they have no names and no addresses. */
const IdentityEvent = Type.Object({
  identityId: IdentityId,
  sequence: Type.Integer({ description: 'Grows with the changes of the identity: a lower number is older' }),
  by: Actor,
})

/** Who named the member: an operator, or the identity provider of an organization. */
const MemberSource = Type.Union([Type.Literal('manual'), Type.Literal('upstream')])
export type MemberSource = Static<typeof MemberSource>

/** A membership that began or ended. */
const MembershipEvent = Type.Object({
  identityId: IdentityId,
  groupId: Uuid,
  key: Type.String(),
  source: MemberSource,
  by: Actor,
})

/**
 * Events that apps receive by webhook, by their `type` (Standard Webhooks). The types, the OpenAPI document and the SDK
 * are derived from these rows. A row compiles only when a module names it in its `webhookEvents`.
 */
export const webhookEvents = {
  'signing.signed': { summary: 'A user or an organization has signed', data: EndedRequest },
  'signing.denied': { summary: 'A user or an organization has denied to sign', data: EndedRequest },
  'signing.expired': { summary: 'A request expired, or the identity replaced its signing key', data: EndedRequest },
  'identity.updated': {
    summary: 'Claims of a connected identity have changed',
    data: Type.Object({ ...IdentityEvent.properties, fields: Type.Array(EditedClaim) }),
  },
  'identity.suspended': { summary: 'A connected identity is suspended', data: IdentityEvent },
  'identity.activated': { summary: 'A connected identity is no longer suspended', data: IdentityEvent },
  'identity.deletion_scheduled': {
    summary: 'A connected identity will be deleted',
    data: Type.Object({ ...IdentityEvent.properties, until: Timestamp }),
  },
  'identity.restored': { summary: 'A connected identity will not be deleted any more', data: IdentityEvent },
  'identity.deleted': { summary: 'A connected identity was deleted', data: IdentityEvent },
  'group.member.added': { summary: 'A connected identity has joined a group', data: MembershipEvent },
  'group.member.removed': { summary: 'A connected identity has left a group', data: MembershipEvent },
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
