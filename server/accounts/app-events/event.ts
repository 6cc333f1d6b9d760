import { randomInt } from 'node:crypto'
import type {
  EditedClaim,
  EventActor,
  GroupField,
  MemberSource,
  ServiceEvent,
  WebhookEvent,
  WebhookEventType,
} from '@countersign/protocol/clients/webhook-events'
import type { IdentityId } from '@countersign/protocol/ids'
import { addSeconds } from '#platform/clock.ts'
import { afterCommit, type Transaction } from '#platform/database/database.ts'
import { createWakeup } from '#platform/queue/wakeup.ts'
import * as store from './store.ts'
import type { Recipient } from './store.ts'

export { takeDue as takeDueEvents } from './store.ts'

const wakeup = createWakeup()

/** Subscribes to events that this process has recorded. Returns a function that unsubscribes. */
export const onEventRecorded = wakeup.onNotified

type StateType = 'identity.suspended' | 'identity.activated' | 'identity.restored' | 'identity.deleted'
type MemberType = 'group.member.added' | 'group.member.removed'

type OfIdentity = { identityId: IdentityId; by: EventActor }

/** What happened to an identity, for the apps that it is connected to and for the webhooks of the service. */
export type IdentityEvent = OfIdentity &
  (
    | { type: StateType | 'identity.created' }
    | { type: 'identity.updated'; claims: EditedClaim[] }
    | { type: 'identity.deletion_scheduled'; until: Date }
  )

/** A membership that began or ended. */
export type MembershipEvent = OfIdentity & { type: MemberType; groupId: string; key: string; source: MemberSource }

/** The sequence of each group after a change, by its ID. */
export type GroupSequences = Map<string, number>

/**
 * Maximum delay of what may happen to all identities of an account at once. Events at the same time would disclose that
 * two identities belong to one user. Every event of these types is delayed: the delay discloses nothing either.
 */
const apartMilliseconds = 60_000
const apartTypes: readonly WebhookEventType[] = ['identity.suspended', 'identity.activated', 'identity.deleted']

/**
 * Records events as rows of the transaction, for each app that the identity is connected to and that has a webhook, and
 * once for the webhooks of the service. An app gets only what its scope shows. Call it after the identities have
 * changed, and before they are deleted. It reads the apps of these identities alone.
 */
export function recordIdentityEvents(tx: Transaction, events: IdentityEvent[], now: Date): Promise<void> {
  return recordEvents(tx, events, new Map(), now)
}

/** Records events of members like `recordIdentityEvents`. The caller has changed, and so locked, their groups. */
export function recordMembershipEvents(
  tx: Transaction,
  events: MembershipEvent[],
  sequences: GroupSequences,
  now: Date,
): Promise<void> {
  return recordEvents(tx, events, sequences, now)
}

type AppEvent = IdentityEvent | MembershipEvent

async function recordEvents(tx: Transaction, events: AppEvent[], sequences: GroupSequences, now: Date): Promise<void> {
  if (events.length === 0) return
  const identityIds = [...new Set(events.map(({ identityId }) => identityId))]
  const types = [...new Set(events.map(({ type }) => type))]
  const recipients = Map.groupBy(await store.listRecipients(tx, identityIds, types), ({ identityId }) => identityId)
  const isShared = await readSharedGroups(tx, [...recipients.values()].flat(), events)
  const recorded = events.flatMap((event) =>
    (recipients.get(event.identityId) ?? []).flatMap((recipient) => {
      const sent = eventFor(recipient, event, sequences)
      if (!sent || ('groupId' in event && !isShared(recipient, event.groupId))) return []
      const { clientId } = recipient
      const { type, data } = sent
      return [{ clientId, type, data: JSON.stringify(data), happenedAt: timeOf(type, now) }]
    }),
  )
  if (recorded.length === 0) return
  await store.insertEvents(tx, recorded)
  afterCommit(tx, wakeup.notify)
}

/** What happened to a group, for the webhooks of the service. */
export type GroupEvent = { groupId: string; key: string; by: EventActor } & (
  | { type: 'group.created' | 'group.deleted' }
  | { type: 'group.updated'; fields: GroupField[] }
)

/** Records an event of a group as a row of the transaction, if a webhook of the service gets it. */
export async function recordGroupEvent(
  tx: Transaction,
  event: GroupEvent,
  sequences: GroupSequences,
  now: Date,
): Promise<void> {
  const { type, ...group } = event
  const data = { ...group, sequence: sequenceOf(group, sequences) }
  const isRecorded = await store.insertGroupEvent(tx, { type, data: JSON.stringify(data), happenedAt: now })
  if (isRecorded) afterCommit(tx, wakeup.notify)
}

function sequenceOf({ groupId }: { groupId: string }, sequences: GroupSequences): number {
  const sequence = sequences.get(groupId)
  if (sequence === undefined) throw new Error('an event is of no group')
  return sequence
}

/** Returns whether a recipient may know of a group, for the groups of some events. */
async function readSharedGroups(tx: Transaction, recipients: Recipient[], events: AppEvent[]) {
  const clientIds = new Set(
    recipients.flatMap(({ clientId, scope }) => (clientId !== null && scope.includes('groups') ? [clientId] : [])),
  )
  const groupIds = new Set(events.flatMap((event) => ('groupId' in event ? [event.groupId] : [])))
  const isNone = clientIds.size === 0 || groupIds.size === 0
  const rows = isNone ? [] : await store.listSharedGroups(tx, [...clientIds], [...groupIds])
  const shared = new Set(rows.map(({ clientId, groupId }) => `${clientId} ${groupId}`))
  return ({ clientId, scope }: Recipient, groupId: string) =>
    clientId === null || (scope.includes('groups') && shared.has(`${clientId} ${groupId}`))
}

function timeOf(type: WebhookEventType, now: Date): Date {
  return apartTypes.includes(type) ? addSeconds(now, randomInt(apartMilliseconds) / 1000) : now
}

const scopeOfClaim = { name: 'profile', preferred_username: 'profile', picture: 'profile', email: 'email' } as const

/** Returns what a recipient gets of an event, or undefined if the scope of the app shows nothing of it. */
function eventFor(
  { clientId, sequence, scope }: Recipient,
  event: AppEvent,
  sequences: GroupSequences,
): Sent | undefined {
  const { identityId, by } = event
  const data = { identityId, sequence, by }
  switch (event.type) {
    case 'identity.created':
      return clientId === null ? { type: event.type, data } : undefined
    case 'identity.updated': {
      const fields = event.claims.filter((claim) => clientId === null || scope.includes(scopeOfClaim[claim]))
      return fields.length > 0 ? { type: event.type, data: { ...data, fields } } : undefined
    }
    case 'identity.deletion_scheduled':
      return { type: event.type, data: { ...data, until: event.until.toISOString() } }
    case 'group.member.added':
    case 'group.member.removed': {
      const { type, groupId, key, source } = event
      return { type, data: { identityId, groupId, sequence: sequenceOf(event, sequences), key, source, by } }
    }
    case 'identity.suspended':
    case 'identity.activated':
    case 'identity.restored':
    case 'identity.deleted':
      return { type: event.type, data }
  }
}

type Sent = Omit<WebhookEvent, 'clientId'> | ServiceEvent

type Claimed = {
  displayName: string
  handle: string
  avatarUrl: string | null
  email: string | null
  emailVerified: boolean
}
type Edit = { identityId: IdentityId; by: EventActor; before: Claimed; after: Claimed }

/** Records that claims of an identity have changed, if any has. */
export async function recordEdit(tx: Transaction, { identityId, by, before, after }: Edit, now: Date): Promise<void> {
  const [former, current] = [claimsOf(before), claimsOf(after)]
  const claims = editedClaims.filter((claim) => former[claim] !== current[claim])
  if (claims.length > 0) await recordIdentityEvents(tx, [{ type: 'identity.updated', identityId, by, claims }], now)
}

const editedClaims = ['name', 'preferred_username', 'picture', 'email'] as const

/** Apps get a verified address only. */
function claimsOf({ displayName, handle, avatarUrl, email, emailVerified }: Claimed) {
  return { name: displayName, preferred_username: handle, picture: avatarUrl, email: emailVerified ? email : null }
}
