import type { Tables } from '#kernel/tables.ts'

/**
 * What becomes of each table. The type demands a word on every one, so a new table does not compile until somebody has
 * decided. In this order they are restored: a table stands after those that its foreign keys name.
 *
 * What lives by a secret that somebody holds is left behind: sessions, codes, tokens, ceremonies. A backup can't know
 * what was spent or revoked after it, and must not bring it back to life.
 */
const fates: Record<keyof Tables, 'kept' | 'left behind'> = {
  person: 'kept',
  identity: 'kept',
  identity_handle: 'kept',
  identity_email_proof: 'left behind',
  passkey_credential: 'kept',
  passkey_flow: 'left behind',
  encryption_key_wrap: 'kept',
  encryption_recovery: 'kept',
  encryption_identity_key: 'kept',
  encryption_device_approval: 'left behind',
  signing_key: 'kept',
  signing_key_owner: 'kept',
  signing_request: 'kept',
  signing_request_place: 'kept',
  signing_organization_request: 'kept',
  signing_organization_place: 'kept',
  signing_organization_answer: 'kept',
  signing_signature_use: 'kept',
  transparency_log: 'kept',
  transparency_leaf: 'kept',
  transparency_node: 'kept',
  app: 'kept',
  app_origin: 'kept',
  app_secret: 'kept',
  app_resource: 'kept',
  webhook_endpoint: 'kept',
  webhook_secret: 'kept',
  organization: 'kept',
  organization_slug: 'kept',
  organization_member: 'kept',
  organization_key: 'kept',
  organization_key_grant: 'kept',
  organization_kms: 'kept',
  organization_domain: 'kept',
  organization_verified_domain: 'kept',
  sso_connection: 'kept',
  sso_encryption_key: 'kept',
  sso_link: 'kept',
  sso_provisioning: 'kept',
  sso_provisioned_person: 'kept',
  sso_flow: 'left behind',
  sso_assertion: 'left behind',
  organization_invitation: 'left behind',
  authorization_consent: 'kept',
  authorization_app_key: 'kept',
  authorization_app_key_owner: 'kept',
  delegation_grant: 'kept',
  delegation_use: 'kept',
  token_signing_key: 'kept',
  token_lineage: 'left behind',
  token_access: 'left behind',
  oauth_pushed_request: 'left behind',
  fedcm_continuation: 'left behind',
  // What waited then was delivered since, or is no news any more.
  webhook_delivery: 'left behind',
  webhook_attempt: 'left behind',
  session: 'left behind',
  session_enterprise_sso: 'left behind',
  session_without_sso: 'left behind',
  rate_limit_window: 'left behind',
  audit_entry: 'kept',
}

export const keptTables = Object.entries(fates).flatMap(([table, fate]) => (fate === 'kept' ? [table] : []))
