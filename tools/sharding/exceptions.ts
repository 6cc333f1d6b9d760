/**
 * A statement of a request that reads all shards of a table, or that is in another way not one of given keys. Its rows
 * are found by the value of another column, and so by an index in each shard; or rows of another table name them; or
 * only some requests send it; or it has this problem.
 */
export type Exception = { table: string; why: string } & (
  | { by: string }
  | { of: string }
  | { request: RegExp }
  | { problem: string }
)

const ofUser = (tables: string[], why: string) => tables.map((table) => ({ table, by: 'user_id', why }))
const ofIdentity = (tables: string[], why: string) => tables.map((table) => ({ table, by: 'identity_id', why }))
/** Requests of operators and directories. Users send all others. */
export const ofOperator = /\/api\/admin\/|\/scim\/v2\//
const forOperator = (tables: string[]) =>
  tables.map((table) => ({
    table,
    request: ofOperator,
    why: 'Lists, searches and acts of operators and directories, which are rare and read pages of limited size.',
  }))
const ofMembers = (tables: string[]) =>
  [
    ...['organization_member', 'organization_invitation', 'organization_signatory'],
    ...['organization_proposal', 'organization_proposal_approval', 'signing_organization_signature'],
  ].flatMap((of) =>
    tables.map((table) => ({
      table,
      of,
      why: 'The people of one organization, whose members every node has: they are found by their IDs in their shards.',
    })),
  )

export const exceptions: Exception[] = [
  ...ofUser(
    ['identity'],
    'The identities of a user, twenty at most. A sign-in, the account page and every change of an account list them.',
  ),
  ...ofUser(
    ['session', 'passkey_credential', 'passkey_flow', 'fedcm_continuation'],
    'Found by their own ID in every other request. These end, list or count what a user has.',
  ),
  ...ofUser(
    ['account_suspension', 'identity_deletion'],
    'Those of all identities of a user, when one of them is suspended, restored or deleted.',
  ),
  ...ofUser(['audit_event'], 'The page of the activity of a user, and their export.'),
  ...ofIdentity(['audit_event'], 'The activity of an identity in the view of operators, and its export.'),
  { table: 'audit_event', by: 'organization_id', why: 'The audit log of an organization, in pages.' },
  {
    table: 'organization_trail_pending',
    by: 'organization_id',
    why: 'The events of an organization that have no place in its trail yet. Each is in the shard of its event.',
  },
  {
    table: 'audit_event',
    request: /\/audit|\/sinks|\/api\/admin|\/export/,
    why: 'Readers of the audit log give events their places, and read it by places, in pages.',
  },
  ...ofIdentity(
    ['identity_handle', 'sso_link', 'authorization_app_public_key', 'session_app', 'session_sso_authentication'],
    'What an identity leaves in tables with another key: read or deleted when it changes or ends.',
  ),
  { table: 'picture', by: 'owner_id', why: 'The pictures of an owner, when one is replaced or the owner ends.' },
  {
    table: 'session',
    by: 'organization_id',
    why: 'Sessions that an organization opened, when a member or a connection ends.',
  },
  ...['session_sso_authentication', 'session_app'].map((table) => ({
    table,
    by: 'organization_id',
    why: 'What sessions have of an organization, when a member, a connection or the organization ends.',
  })),
  {
    table: 'session_app',
    by: 'session_id',
    why: 'The apps of a session that ends. It may have continued another session of its user, whose ID is the key.',
  },
  { table: 'session_app', of: 'session', why: 'The apps of all sessions that end, which are found as above.' },
  {
    table: 'session_logout',
    problem: 'is on the coordinator alone, and session_app is in shards',
    why: 'The queue gets what was deleted in shards: two parts of a statement, and no join.',
  },
  { table: 'identity', of: 'session_app', why: 'The users of the identities whose sessions end.' },
  {
    table: 'token_family',
    by: 'organization_id',
    why: 'Whether an app has tokens for an organization, and their end with a member.',
  },
  { table: 'token_family', by: 'session_id', why: 'Codes that nobody has redeemed when their session ends.' },
  ...['authorization_consent', 'delegation_grant'].map((table, nth) => ({
    table,
    by: ['authorization_id', 'delegation_id'][nth] ?? '',
    why: 'Found by the ID in the path, among those of the identities of the user.',
  })),
  {
    table: 'authorization_consent',
    problem: 'has a subquery in its values, which Citus takes from `insert … select` alone',
    why: 'On one server alone, which keeps the order of scopes. Citus gets another expression: `isDistributed`.',
  },
  {
    table: 'authorization_app_key',
    by: 'client_id',
    why: 'The app key of a user whose identities are found by their user or name.',
  },
  {
    table: 'identity_handle',
    request: /app-lookup/,
    why: 'The username at or before the given one, so that one that nobody has takes as long to look up.',
  },
  { table: 'signing_request', by: 'status', why: 'The pending requests of the identities of a user.' },
  {
    table: 'signing_former_request',
    problem: 'gets rows whose request_id is not given',
    why: 'The pending requests of an identity that ends.',
  },
  ...ofMembers(['identity', 'signing_key', 'encryption_identity_key', 'group_member', 'group_member_by_group']),
  ...['organization_proposal', 'organization_proposal_approval'].map((table) => ({
    table,
    problem: 'is on the coordinator alone, and identity is in shards',
    why: 'The members who have proposed and approved an act, whose names are joined with few rows.',
  })),
  { table: 'app_role_identity', by: 'client_id', why: 'The roles of an app, when an operator changes them.' },
  { table: 'group_member', by: 'group_id', why: 'The members of a group, when an operator or a directory changes it.' },
  { table: 'group_member', by: 'source', why: 'The members that an SSO connection has named, when it ends.' },
  { table: 'group_member_by_group', by: 'group_id', why: 'The members of a group, in pages.' },
  ...forOperator([
    ...['identity', 'identity_term', 'account_suspension', 'identity_deletion', 'group_member'],
    ...['group_member_by_group', 'passkey_credential', 'encryption_recovery_code', 'audit_chain', 'picture'],
  ]),
]
