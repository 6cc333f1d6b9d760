import { createHmac } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { UserId } from '@countersign/protocol/ids'
import type { AuditActor, AuditedObject, AuditEvent } from '@countersign/protocol/operations/audit'
import type { Keyring } from '#platform/crypto/keyring.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { AuditAction } from './audit-log.ts'

/** Who reads events. */
export type EventReader = {
  keyring: Pick<Keyring, 'derive'>
  /** Operator, token or sink. */
  readerKey: string
}

/** Actions of which what was attempted did not succeed. The others succeeded. */
export const failedActions: readonly string[] = [
  'app.webhook.disabled',
  'identity.deletion_refused',
  'organization.domain.verification_expired',
  'organization.domain.verification_failing',
  'passkey.sign_count_regressed',
  'sso.login.failed',
  'token_family.reuse_detected',
  'webhook.disabled',
] satisfies AuditAction[]

type ObjectRule = { of: string; kind: string; id: string; name?: string }

/**
 * Objects of actions by the beginnings of their names, the more special ones first, and the details that name them. An
 * event without these details acts on what it names otherwise: an app, an organization or an identity.
 */
const objectRules: ObjectRule[] = [
  { of: 'admin_token.', kind: 'admin_token', id: 'tokenId', name: 'name' },
  { of: 'app.role.', kind: 'role', id: 'role' },
  { of: 'configuration.', kind: 'configuration', id: 'source' },
  { of: 'delegation.', kind: 'delegation', id: 'delegationId', name: 'resourceKey' },
  { of: 'group.', kind: 'group', id: 'groupId', name: 'key' },
  { of: 'invitation.', kind: 'invitation', id: 'invitationId' },
  { of: 'organization.domain.', kind: 'domain', id: 'domain' },
  { of: 'organization.invitation.', kind: 'invitation', id: 'invitationId' },
  { of: 'organization.key.', kind: 'organization_key', id: 'keyId' },
  { of: 'organization.member.', kind: 'member', id: 'memberId' },
  { of: 'organization.proposal.', kind: 'proposal', id: 'proposalId' },
  { of: 'organization.signing.', kind: 'signing_request', id: 'requestId' },
  { of: 'recovery_link.', kind: 'recovery_link', id: 'recoveryLinkId' },
  { of: 'resource.', kind: 'resource', id: 'resource' },
  { of: 'scim.user.', kind: 'scim_user', id: 'scimUserId' },
  { of: 'scim.', kind: 'sso_connection', id: 'connectionId' },
  { of: 'scim_token.', kind: 'scim_token', id: 'tokenId', name: 'name' },
  { of: 'settings.', kind: 'settings', id: 'revision' },
  { of: 'signing.', kind: 'signing_request', id: 'requestId' },
  { of: 'sink.', kind: 'sink', id: 'sinkId', name: 'key' },
  { of: 'sso.', kind: 'sso_connection', id: 'connectionId', name: 'name' },
  { of: 'webhook.', kind: 'webhook', id: 'webhookId', name: 'origin' },
]

/** Event as it is stored. */
export type StoredEntry = Omit<Selectable<Tables['audit_event']>, 'details' | 'device'> & {
  details: Record<string, unknown>
}

/** Present names of identities and organizations by their IDs. Those of deleted ones are missing. */
export type PresentNames = ReadonlyMap<string, string>

/** Returns what reads events as operators see them, for one reader. */
export function entryReader({ keyring, readerKey }: EventReader) {
  const [key] = keyring.derive('countersign/audit-person/v1')
  const personRef = (userId: string, at: Date) => {
    const [day = ''] = at.toISOString().split('T', 1)
    return createHmac('sha256', key)
      .update(JSON.stringify([readerKey, day, userId]))
      .digest('base64url')
      .slice(0, 16)
  }

  /**
   * Returns what operators see of an event. Events of an account name no passkey: its ID would be the same in all of
   * them, and show which belong together. What refers to their user differs by reader and day.
   */
  return (row: StoredEntry, names: PresentNames): AuditEvent => {
    const { credentialId: _credentialId, ...details } = row.details
    return {
      sequence: Number(row.sequence),
      entryId: row.event_id,
      at: row.occurred_at.toISOString(),
      action: row.action,
      result: failedActions.includes(row.action) ? 'failure' : 'success',
      actor: actorOf(row, names),
      object: objectOf(row, names),
      identityId: row.identity_id,
      clientId: row.client_id,
      organizationId: row.organization_id,
      // Outside of the chain, anyone who can write to the database could have added them.
      address: row.origin_is_chained === true ? row.origin_network : null,
      requestId: row.origin_is_chained === true ? row.origin_request_id : null,
      personRef: isOfAccountAlone(row) ? personRef(row.user_id, row.occurred_at) : null,
      details,
    }
  }
}

/** Checks whether an event names nothing that one identity of its user has, such as an app that it registered. */
function isOfAccountAlone(row: StoredEntry): row is StoredEntry & { user_id: UserId } {
  return row.user_id !== null && [row.identity_id, row.client_id, row.organization_id].every((each) => each === null)
}

function actorOf(row: StoredEntry, names: PresentNames): AuditActor {
  const { actor, operator_kind: kind, operator_id: id, operator_name: name } = row
  if (kind !== null) return { kind, id, name: name ?? nameOf(id, names) }
  switch (actor) {
    case 'user':
      return { kind: 'user', id: row.identity_id, name: nameOf(row.identity_id, names) }
    case 'app':
      return { kind: 'app', id: row.client_id, name: row.app_name }
    case 'operator':
    case 'system':
      return { kind: actor, id: null, name: null }
  }
}

function objectOf(row: StoredEntry, names: PresentNames): AuditedObject | null {
  const { action, details, client_id: clientId, identity_id: identityId, organization_id: organizationId } = row
  const rule = objectRules.find(({ of, id }) => action.startsWith(of) && textOf(details[id]) !== null)
  if (rule) {
    const { kind, id, name } = rule
    return { kind, id: textOf(details[id]) ?? '', name: name === undefined ? null : textOf(details[name]) }
  }
  const identity = identityId && { kind: 'identity', id: identityId, name: nameOf(identityId, names) }
  // An app acts on others.
  if (row.actor === 'app' && identity) return identity
  if (clientId) return { kind: 'app', id: clientId, name: row.app_name }
  if (organizationId) return { kind: 'organization', id: organizationId, name: nameOf(organizationId, names) }
  return identity
}

function nameOf(id: string | null, names: PresentNames): string | null {
  return (id === null ? undefined : names.get(id)) ?? null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}
