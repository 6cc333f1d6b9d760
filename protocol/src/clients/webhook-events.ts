import { type Static, type TObject, Type } from 'typebox'
import { RequestedSignature } from '../signing/signing.ts'
import { ClientId, IdentityId, OrganizationId } from '../ids.ts'
import { Timestamp, Uuid } from '../values.ts'

/** Who gets an event: apps, webhooks of the service, or both. */
type Receiver = 'app' | 'service'
type EventParameters = { summary: string; data: TObject; to: readonly Receiver[] }

const [app, service, both] = [['app'], ['service'], ['app', 'service']] as const

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

/** Who did what an event reports: the user, an operator, a directory, or the service at a time that was set before. */
const Actor = Type.Union([Type.Literal('self'), Type.Literal('operator'), Type.Literal('scim'), Type.Literal('system')])
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
const MemberSource = Type.Union([Type.Literal('manual'), Type.Literal('scim'), Type.Literal('upstream')])
export type MemberSource = Static<typeof MemberSource>

/** Grows with the changes of a group and of its members. */
const GroupSequence = Type.Integer({ minimum: 1 })

/** A membership that began or ended. */
const MembershipEvent = Type.Object({
  identityId: IdentityId,
  groupId: Uuid,
  sequence: GroupSequence,
  key: Type.String(),
  source: MemberSource,
  by: Actor,
})

/** Fields of a group that an operator can change. */
const GroupField = Type.Union([Type.Literal('displayName'), Type.Literal('description'), Type.Literal('protected')])
export type GroupField = Static<typeof GroupField>

/** What all events of a group have. Members have events of their own. */
const GroupEvent = Type.Object({ groupId: Uuid, sequence: GroupSequence, key: Type.String(), by: Actor })

/**
 * Events of webhooks, by their `type` (Standard Webhooks). Apps get those of the identities that are connected to them,
 * and webhooks of the service get those of all. The types, the OpenAPI document and the SDK are derived from these
 * rows. A row compiles only when a module names it in its `webhookEvents`.
 */
export const webhookEvents = {
  'signing.signed': { to: app, summary: 'A user or an organization has signed', data: EndedRequest },
  'signing.denied': { to: app, summary: 'A user or an organization has denied to sign', data: EndedRequest },
  'signing.expired': {
    to: app,
    summary: 'A request expired, or the identity replaced its signing key',
    data: EndedRequest,
  },
  'identity.created': { to: service, summary: 'A user has created an identity', data: IdentityEvent },
  'identity.updated': {
    to: both,
    summary: 'Claims of an identity have changed',
    data: Type.Object({ ...IdentityEvent.properties, fields: Type.Array(EditedClaim) }),
  },
  'identity.suspended': { to: both, summary: 'An identity is suspended', data: IdentityEvent },
  'identity.activated': { to: both, summary: 'An identity is no longer suspended', data: IdentityEvent },
  'identity.deletion_scheduled': {
    to: both,
    summary: 'An identity will be deleted',
    data: Type.Object({ ...IdentityEvent.properties, until: Timestamp }),
  },
  'identity.restored': { to: both, summary: 'An identity will not be deleted any more', data: IdentityEvent },
  'identity.deleted': { to: both, summary: 'An identity was deleted', data: IdentityEvent },
  'group.created': { to: service, summary: 'A group was created', data: GroupEvent },
  'group.updated': {
    to: service,
    summary: 'A group has changed',
    data: Type.Object({ ...GroupEvent.properties, fields: Type.Array(GroupField) }),
  },
  'group.deleted': { to: service, summary: 'A group was deleted', data: GroupEvent },
  'group.member.added': { to: both, summary: 'An identity has joined a group', data: MembershipEvent },
  'group.member.removed': { to: both, summary: 'An identity has left a group', data: MembershipEvent },
  'webhook.test': {
    to: app,
    summary: 'A manager of the app has sent a test event',
    data: Type.Object({ clientId: ClientId }),
  },
  'service.test': { to: service, summary: 'An operator has sent a test event', data: Type.Object({ webhookId: Uuid }) },
} as const satisfies Record<string, EventParameters>

type Rows = typeof webhookEvents
export type WebhookEventType = keyof Rows
type TypeTo<To extends Receiver> = {
  [Name in WebhookEventType]: To extends Rows[Name]['to'][number] ? Name : never
}[WebhookEventType]
export type ServiceEventType = TypeTo<'service'>
type DataOf<Name extends WebhookEventType> = Static<Rows[Name]['data']>

/** An event to an app, before it is sent. */
export type WebhookEvent = {
  [Name in TypeTo<'app'>]: { type: Name; clientId: ClientId; data: DataOf<Name> }
}[TypeTo<'app'>]

/** An event to the webhooks of the service, before it is sent. */
export type ServiceEvent = { [Name in ServiceEventType]: { type: Name; data: DataOf<Name> } }[ServiceEventType]

function isServiceEvent(type: string): type is ServiceEventType {
  return isWebhookEvent(type) && webhookEvents[type].to.some((to) => to === 'service')
}

function isWebhookEvent(type: string): type is WebhookEventType {
  return Object.hasOwn(webhookEvents, type)
}

/** Types of the events that a webhook of the service can select. It gets test events in any case. */
export const selectableEventTypes = Object.keys(webhookEvents)
  .filter(isServiceEvent)
  .filter((type) => type !== 'service.test')

/** Schemas of the bodies of webhooks, by event type. */
export const webhookBodies: Record<string, TObject> = Object.fromEntries(
  Object.entries(webhookEvents).map(([type, { summary, data }]) => [
    type,
    Type.Object({ type: Type.Literal(type), timestamp: Timestamp, data }, { description: summary }),
  ]),
)

/** Types of the events that apps get. */
export const appEventTypes = Object.keys(webhookEvents).filter(
  (type) => isWebhookEvent(type) && webhookEvents[type].to.some((to) => to === 'app'),
)
