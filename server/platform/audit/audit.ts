import { randomUUIDv7 } from 'node:crypto'
import type { Database, Transaction } from '#platform/database/database.ts'

/** What happened, in the past tense; the words are kept for ever. */
export type AuditAction =
  | 'account.registered'
  | 'account.key_wraps_replaced'
  | 'account.key_wrap_added'
  | 'account.device_approval_asked'
  | 'account.device_approved'
  | 'account.recovery_replaced'
  | 'account.recovered'
  | 'session.started'
  | 'session.ended'
  | 'session.others_ended'
  | 'session.too_many'
  | 'session.reauthenticated'
  | 'passkey.added'
  | 'passkey.renamed'
  | 'passkey.removed'
  | 'passkey.counter_went_back'
  | 'account.deleted'
  | 'identity.created'
  | 'identity.deleted'
  | 'identity.changed'
  | 'identity.handle_changed'
  | 'identity.email_asked'
  | 'identity.email_verified'
  | 'identity.email_removed'
  | 'app.created'
  | 'app.changed'
  | 'app.deleted'
  | 'app.secret_rotated'
  | 'app.webhook_set'
  | 'app.webhook_removed'
  | 'app.webhook_secret_rotated'
  | 'app.webhook_disabled'
  | 'app.webhook_sent_again'
  | 'resource.created'
  | 'resource.changed'
  | 'app.authorized'
  | 'app.disconnected'
  | 'app.key_created'
  | 'app.key_replaced'
  | 'organization.created'
  | 'organization.changed'
  | 'organization.deleted'
  | 'organization.suspended'
  | 'organization.activated'
  | 'organization.entered_without_sso'
  | 'organization.domain.claimed'
  | 'organization.domain.verified'
  | 'organization.domain.failing'
  | 'organization.domain.lost'
  | 'organization.domain.removed'
  | 'organization.member.joined'
  | 'organization.member.changed'
  | 'organization.member.removed'
  | 'organization.invitation.created'
  | 'organization.invitation.withdrawn'
  | 'organization.key.created'
  | 'organization.key.granted'
  | 'organization.key.given_up'
  | 'organization.key.delivered'
  | 'organization.key.deleted'
  | 'organization.kms.set'
  | 'organization.kms.removed'
  | 'organization.signing.requested'
  | 'organization.signing.signed'
  | 'organization.signing.approved'
  | 'organization.signing.denied'
  | 'sso.connection_created'
  | 'sso.connection_changed'
  | 'sso.connection_confirmed'
  | 'sso.connection_deleted'
  | 'sso.connection_tested'
  | 'sso.encryption_key_created'
  | 'sso.encryption_key_removed'
  | 'sso.scim_token_created'
  | 'sso.scim_token_removed'
  | 'sso.person_provisioned'
  | 'sso.person_changed'
  | 'sso.person_removed'
  | 'sso.linked'
  | 'sso.signed_in'
  | 'sso.failed'
  | 'delegation.granted'
  | 'delegation.widened'
  | 'delegation.used'
  | 'delegation.revoked'
  | 'backup.taken'
  | 'backup.restored'
  | 'encryption_key.created'
  | 'signing_key.created'
  | 'signing_key.rotated'
  | 'signing.requested'
  | 'signing.signed'
  | 'signing.denied'
  | 'tokens.reuse_detected'
  | 'tokens.revoked'
  | 'keys.rotated'

export type Audited = {
  action: AuditAction
  actor: 'person' | 'app' | 'operator' | 'system'
  userId?: string
  identityId?: string
  clientId?: string
  organizationId?: string
  details?: Record<string, string | number | boolean | string[]>
}

/**
 * Records an act, in the transaction of the act where there is one. Details hold no secret and nothing that was said.
 */
export async function record(db: Database | Transaction, audited: Audited, now: Date): Promise<void> {
  await db
    .insertInto('audit_entry')
    .values({
      entry_id: randomUUIDv7(),
      at: now,
      action: audited.action,
      actor: audited.actor,
      user_id: audited.userId ?? null,
      identity_id: audited.identityId ?? null,
      client_id: audited.clientId ?? null,
      organization_id: audited.organizationId ?? null,
      details: JSON.stringify(audited.details ?? {}),
    })
    .execute()
}
