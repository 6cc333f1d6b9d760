import { sql } from 'kysely'
import { digestPrefix } from '@countersign/protocol/formats/signing/key-event'
import { limits } from '@countersign/protocol/formats/limits'
import { organizationScopes } from '@countersign/protocol/formats/role'
import { standardScopes } from '@countersign/protocol/formats/scope'
import type { Database } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { invariantsOfEndings } from './invariants-of-endings.ts'
import { invariantsOfIdentities } from './invariants-of-identities.ts'
import { invariantsOfPictures } from './invariants-of-pictures.ts'
import { referencesIn, textsIn, type Table } from './invariants-of-tables.ts'
import { invariantsOfWebhooks } from './invariants-of-webhooks.ts'
import { copyTables } from './sharded-database.ts'

/**
 * Conditions that hold for a whole database whenever no write is in progress. Each is a sentence, and a query for the
 * rows that violate it; `$now` is the time of the check. Constraints of the schema are not repeated.
 */
const invariants: Record<string, string> = {
  ...invariantsOfEndings,
  ...invariantsOfIdentities,
  ...invariantsOfPictures,
  ...invariantsOfWebhooks,
  'a public signing key has the owner that is recorded': `
    select signing_key.identity_id, key_version from signing_key
    left join signing_key_owner using (public_key)
    where signing_key_owner.identity_id is distinct from signing_key.identity_id`,
  'the last signing key of an identity is current, and each starts when the previous one was replaced': `
    select identity_id, key_version from (
      select identity_id, key_version, created_at, replaced_at,
        lead(created_at) over keys as next_created_at, lag(key_version, 1, 0) over keys as before
      from signing_key window keys as (partition by identity_id order by key_version)
    ) one where key_version <> before + 1 or replaced_at is distinct from next_created_at`,
  'an organization has as many owners as are counted': `
    select organization_id, owner_count from organization where owner_count <> (
      select count(*) from organization_member
      where organization_member.organization_id = organization.organization_id and role = 'owner'
    )`,
  'an organization has its slug, and a slug its organization': `
    select organization_id, organization.slug, organization_slug.slug as taken from organization
    full join (select * from organization_slug where available_at is null) organization_slug using (organization_id)
    where organization.slug is distinct from organization_slug.slug`,
  'a member has each scope once, no unknown one, and an owner all of them': `
    select organization_id, member_id, role, scopes from organization_member
    where not scopes <@ array['${organizationScopes.join("','")}']
      or cardinality(scopes) <> (select count(distinct scope) from unnest(scopes) scope)
      or (role = 'owner' and cardinality(scopes) <> ${organizationScopes.length})`,
  'the last key of an organization is current, and each was retired when the next was created': `
    select organization_id, version from (
      select organization_id, version, retired_at,
        lead(created_at) over keys as next_created_at, lead(version) over keys as next
      from organization_key window keys as (partition by organization_id order by version)
    ) one where (retired_at is null) <> (next is null) or (next = version + 1 and retired_at <> next_created_at)`,
  'only a key in the custody of members has key wraps': `
    select organization_id, key_id, member_id from organization_key_wrap
    join organization_key using (organization_id, key_id) where custody <> 'identity_grants'`,
  'a verified domain belongs to the one organization that has verified it': `
    select domain, proved.organization_id, verified.organization_id as holder
    from (select * from organization_domain where verified_at is not null) proved
    full join organization_verified_domain verified using (domain)
    where (proved.organization_id, proved.domain_id) is distinct from (verified.organization_id, verified.domain_id)`,
  'each admin token of an operator belongs to one who has a role': `
    select token_id, created_by from admin_token left join operator on operator.identity_id = created_by
    where created_by is not null and operator.identity_id is null`,
  'an event of an organization has one place in its trail, or waits for it': `
    select event_id from audit_event
    left join organization_trail placed using (organization_id, event_id)
    left join organization_trail_pending pending using (organization_id, event_id)
    where organization_id is not null and (placed.event_id is null) = (pending.event_id is null)`,
  'a trail is as long as its head says, without a gap': `
    select organization_id from organization_trail_head where sequence <> (
      select coalesce(max(organization_trail.sequence), 0) from organization_trail
      where organization_trail.organization_id = organization_trail_head.organization_id
    ) or sequence <> (
      select count(*) from organization_trail
      where organization_trail.organization_id = organization_trail_head.organization_id
    )`,
  'no event of a user, or of what follows from it, has the ID of its request': `
    select event_id from audit_event
    where origin_request_id is not null and actor <> 'app' and operator_kind is null`,
  'the ID of a request by an app joins no two identities': `
    select origin_request_id from audit_event where actor = 'app' and origin_request_id is not null
    group by origin_request_id having count(distinct identity_id) > 1`,
  'the chain of the audit log is as long as its head says, without a gap': `
    select sequence from audit_chain_head
    where sequence <> pruned_sequence + (select count(*) from audit_chain)
      or sequence <> greatest(pruned_sequence, (select coalesce(max(audit_chain.sequence), 0) from audit_chain))`,
  'an event with a place is in the chain': `
    select event_id from audit_event left join audit_chain using (sequence)
    where audit_event.sequence is not null and audit_chain.sequence is null`,
  'a delegation belongs to an identity that has connected its source, or was revoked': `
    select delegation_grant.identity_id, delegation_id from delegation_grant
    left join authorization_consent consent
      on consent.identity_id = delegation_grant.identity_id and consent.client_id = source_client_id
    where revoked_at is null and consent.client_id is null`,
  'the revocation of a delegation is in the audit log at most once': `
    select identity_id, delegation_id from delegation_grant where revoked_at is not null and 1 < (
      select count(*) from audit_event
      where audit_event.identity_id = delegation_grant.identity_id and action = 'delegation.revoked'
        and details ->> 'delegationId' = delegation_id::text
    )`,
  'the last use of a delegation is in the last minute that counts one': `
    select grants.identity_id, grants.delegation_id from delegation_grant grants
    join delegation_usage uses using (identity_id, delegation_id)
    group by grants.identity_id, grants.delegation_id, last_used_at
    having date_trunc('minute', last_used_at) is distinct from max(used_at)`,
  'a use belongs to a delegation, or to a deleted identity before the cleanup': `
    select uses.identity_id, uses.delegation_id from delegation_usage uses
    left join delegation_grant using (identity_id, delegation_id)
    left join delegation_former_identity former on former.identity_id = uses.identity_id
    where delegation_grant.identity_id is null and former.identity_id is null`,
  'no app has a reserved resource of a deleted app': `
    select one.resource_key from app_resource one join app_held_resource held
    on one.resource_key = held.resource_key or rtrim(one.audience, '/') = held.audience`,
  'a signing request is bound to a key of its identity at that time, a pending one to the current key': `
    select request_id from signing_request
    left join signing_key using (identity_id, key_version, public_key)
    where signing_key.created_at is null or signing_key.created_at > signing_request.created_at
      or (status = 'pending' and replaced_at is not null)`,
  'a signing request has its route, and a route its request': `
    select request_id from signing_request
    full join signing_request_route using (identity_id, request_id, client_id)
    where signing_request.status is null or signing_request_route.request_id is null`,
  'an answer to a signing request is in the audit log once': `
    select request_id, status from signing_request where status in ('signed', 'denied') and 1 <> (
      select count(*) from audit_event
      where audit_event.identity_id = signing_request.identity_id and action = 'signing.' || status
        and details ->> 'requestId' = request_id::text
    )`,
  'a signature without an approval belongs to the app, the organization and the role that it answered': `
    select given.request_id from (
      select identity_id, request_id, client_id, null::uuid as organization_id, 'self' as role, signature
      from signing_request where status = 'signed' and approval_statement is null
      union all
      select identity_id, request_id, client_id, organization_id, role, signature
      from signing_organization_signature join signing_organization_request using (organization_id, request_id)
      where exists (select from identity where identity.identity_id = signing_organization_signature.identity_id)
        and approval_statement is null
    ) given
    left join signing_signature_use used
      on used.identity_id = given.identity_id and signature_sha256 = sha256(signature)
    where (used.client_id, used.role) is distinct from (given.client_id, given.role)
      or used.organization_id is distinct from given.organization_id`,
  'an approval states its request, identity, role and text, and none outlives its identity': `
    select given.request_id from (
      select identity_id, request_id, null::uuid as organization_id, 'self' as role, payload, approval_statement
      from signing_request
      union all
      select identity_id, request_id, organization_id, role, payload, approval_statement
      from signing_organization_signature join signing_organization_request using (organization_id, request_id)
    ) given
    where approval_statement is not null and (
      (approval_statement::jsonb ->> 'requestId', approval_statement::jsonb ->> 'identityId',
        approval_statement::jsonb ->> 'role', approval_statement::jsonb ->> 'payloadSha256',
        approval_statement::jsonb #>> '{organization,id}')
      is distinct from (request_id::text, identity_id::text, role,
        encode(sha256(convert_to(payload, 'UTF8')), 'base64'), organization_id::text)
      or not exists (select from identity where identity.identity_id = given.identity_id)
    )`,
  'an identity has at most five started approvals of a request': `
    select identity_id, request_id from signing_approval_flow group by identity_id, request_id having count(*) > 5`,
  'a request signed by an organization has a signature and the required approvals, a closed one none': `
    select request_id, status, approvals_needed from signing_organization_request where case status
      when 'signed' then
        approvals_needed > (
          select count(*) from signing_organization_signature answer
          where answer.organization_id = signing_organization_request.organization_id
            and answer.request_id = signing_organization_request.request_id and role = 'approve'
        ) or not exists (
          select from signing_organization_signature answer
          where answer.organization_id = signing_organization_request.organization_id
            and answer.request_id = signing_organization_request.request_id and role = 'sign'
        )
      when 'pending' then false
      else exists (
        select from signing_organization_signature answer
        where answer.organization_id = signing_organization_request.organization_id
          and answer.request_id = signing_organization_request.request_id
      ) end`,
  'a user signs or approves a request to an organization once': `
    select request_id, user_id from signing_organization_signature join identity using (identity_id)
    group by request_id, user_id having count(*) > 1`,
  'a request to an organization has its route, and a route its request': `
    select request_id from signing_organization_request
    full join signing_organization_request_route using (organization_id, request_id, client_id)
    where signing_organization_request.status is null or signing_organization_request_route.organization_id is null`,
  'the outcome of a request to an organization is in the audit log once': `
    select request_id, status from signing_organization_request where status in ('signed', 'denied') and 1 <> (
      select count(*) from audit_event
      where audit_event.organization_id = signing_organization_request.organization_id
        and details ->> 'requestId' = request_id::text and details ->> 'completes' = 'true'
        and (action = 'organization.signing.denied') = (status = 'denied')
    )`,
  'every signature for an organization is in the audit log': `
    select request_id, identity_id, role from signing_organization_signature answer where not exists (
      select from audit_event
      where audit_event.organization_id = answer.organization_id and audit_event.identity_id = answer.identity_id
        and details ->> 'requestId' = request_id::text and occurred_at = signed_at
        and action = case role when 'sign' then 'organization.signing.signed' else 'organization.signing.approved' end
    )`,
  'a signing key has its leaf': `
    select signing_key.identity_id, key_version from signing_key where not exists (
      select from transparency_leaf,jsonb_to_record(leaf_data::jsonb) l (event text, "keyVersion" int, "publicKey" text)
      where identity_sha256 = sha256(convert_to('${digestPrefix}' || signing_key.identity_id, 'UTF8'))
        and l."keyVersion" = signing_key.key_version and l."publicKey" = encode(public_key, 'base64')
        and l.event = case when key_version = 1 then 'created'
          when recovered_at is not null and rotation_signature is null then 'recovered' else 'rotated' end
    )`,
  'the leaves of an identity form a chain in the order of the log': `
    select identity_sha256, sequence from (
      select *, lag(leaf_sha256) over chain as before, lag(leaf_index, 1, -1) over chain as index_before,
        row_number() over chain as position
      from transparency_leaf window chain as (partition by identity_sha256 order by sequence)
    ) leaf
    where sequence <> position or leaf_data::jsonb ->> 'previous' is distinct from encode(before, 'base64')
      or leaf_sha256 <> sha256('\\x00'::bytea || convert_to(leaf_data, 'UTF8'))
      or leaf_index < index_before or index_before is null and leaf_index is not null`,
  'the log has as many leaves as it counts, without gaps': `
    select size from transparency_log
    where size <> (select count(leaf_index) from transparency_leaf)
      or size <> (select coalesce(max(leaf_index) + 1, 0) from transparency_leaf)
      or size <> (select count(*) from transparency_node where level = 0)`,
  'a leaf with an index is in the tree there': `
    select leaf_index from transparency_leaf left join transparency_node on level = 0 and node_index = leaf_index
    where leaf_index is not null and hash is distinct from leaf_sha256`,

  'a session has a sign-in in the audit log, unless older events were deleted': `
    select user_id, count(*) from session
    where (select coalesce(max(pruned_sequence), 0) from audit_chain_head) = 0
    group by user_id having count(*) > (
      select count(*) from audit_event
      where audit_event.user_id = session.user_id
        and action in ('account.created', 'session.created', 'sso.login.succeeded')
    )`,
  'a session does not exceed the maximum lifetime': `
    select session_id, created_at, expires_at from session
    where expires_at > created_at + ${limits.sessionLifetimeSeconds} * interval '1 second' or auth_time < created_at`,
  'a user does not exceed the maximum of sessions': `
    select user_id, count(*) from session group by user_id having count(*) > ${limits.sessionsPerUserMax}`,
  'a session was opened by a passkey of its user': `
    select user_id, session_id from session left join passkey_credential using (credential_id, user_id)
    where auth_method = 'passkey' and session.credential_id is not null and public_key is null`,
  'a session that a recovery limits has the passkey of that identity': `
    select session.user_id, session_id from session left join recovery_link link
      on link.user_id = session.user_id and link.identity_id = session.identity_id
      and link.credential_id = session.credential_id and state in ('completed', 'settled')
    where auth_method = 'recovered_passkey' and link.user_id is null`,
  'a recovery is of an identity of its user, and its passkey is no other': `
    select link.user_id, recovery_link_id from recovery_link link
    left join identity on identity.identity_id = link.identity_id and identity.user_id = link.user_id
    left join passkey_credential on passkey_credential.credential_id = link.credential_id
    where identity.identity_id is null or passkey_credential.credential_id is not null`,
  'an SSO session has an authentication of its identity, which belongs to its user': `
    select session_id, session.identity_id from session
    left join session_sso_authentication named using (session_id)
    left join identity on identity.identity_id = named.identity_id
    where identity.user_id <> session.user_id
      or (session.auth_method = 'enterprise_sso' and session.identity_id is distinct from named.identity_id)`,

  'an SSO encryption key belongs to a SAML connection that has at most the maximum of keys': `
    select connection_id, count(*) from sso_encryption_key join sso_connection using (connection_id)
    group by connection_id, settings having settings ->> 'protocol' <> 'saml'
      or count(*) filter (where expires_at is null or expires_at > $now) > ${limits.samlEncryptionKeysMax}`,

  'a directory has provisioned as many users as are counted': `
    select connection_id, user_count from sso_scim_directory where user_count <> (
      select count(*) from sso_scim_user
      where sso_scim_user.connection_id = sso_scim_directory.connection_id
    )`,
  'a user deactivated by the directory is linked to no member': `
    select sso_scim_user.connection_id, scim_user_id from sso_scim_user
    join sso_link using (connection_id, subject) join organization_member using (organization_id, member_id)
    where not active`,

  'an app with a secret is not public, and any other is': `
    select client_id from app
    where is_public = exists (select from app_secret where app_secret.client_id = app.client_id)`,

  'an app registered by a user has its owner': `
    select client_id, owner_user_id from app left join user_account on user_account.user_id = owner_user_id
    where owner_user_id is not null and user_account.user_id is null`,
  'a user does not exceed the maximum of apps': `
    select owner_user_id, count(*) from app where owner_user_id is not null
    group by owner_user_id having count(*) > ${limits.appsPerUserMax}`,
  'an app or resource disabled by the operator is disabled': `
    select client_id from app where disabled_by_operator and status = 'active'
    union all select resource_key from app_resource where disabled_by_operator and status = 'active'`,
  'an app does not exceed the maximum of resources': `
    select client_id, count(*) from app_resource group by client_id having count(*) > ${limits.resourcesPerAppMax}`,
  'a resource has scopes, each once, and no reserved one': `
    select resource_key, scopes from app_resource
    where cardinality(scopes) not between 1 and ${limits.scopesPerResourceMax}
      or cardinality(scopes) <> (select count(distinct scope) from unnest(scopes) scope)
      or scopes && array['${standardScopes.join("','")}']
      or exists (select from unnest(scopes) scope where scope like 'e2ee:%')`,
  'no resource has the key of another as its audience': `
    select one.resource_key, one.audience from app_resource one
    join app_resource other on rtrim(one.audience, '/') = other.resource_key
    where one.resource_key <> other.resource_key`,
  'the creation of a resource is in the audit log once': `
    select resource_key from app_resource where 1 <> (
      select count(*) from audit_event
      where audit_event.client_id = app_resource.client_id and action = 'resource.created'
        and details ->> 'resource' = resource_key
      -- The app of the playground is created again under the same ID.
    ) and app_resource.client_id not like 'app_playground%'`,
  'a consent is in the audit log': `
    select identity_id, client_id from authorization_consent where not exists (
      select from audit_event
      where audit_event.identity_id = authorization_consent.identity_id
        and audit_event.client_id = authorization_consent.client_id and action = 'app.authorized'
    )`,
  'an app key belongs to an identity that has connected the app': `
    select identity_id, client_id from authorization_app_key
    left join authorization_consent using (identity_id, client_id) where authorization_id is null`,
  'an active token family has a consent to its scope': `
    select identity_id, family_id, token_family.scope, authorization_consent.scope as consented from token_family
    left join authorization_consent using (identity_id, client_id)
    where revoked_at is null and expires_at > $now and (
      authorization_consent.scope is null
      or (authenticated_by_passkey is not false and (token_family.scope <@ authorization_consent.scope) is not true)
    )`,
  'a token family without passkey belongs to an SSO connection': `
    select identity_id, family_id from token_family
    where authenticated_by_passkey is false and sso_connection_id is null`,
  'an active token family for an organization belongs to a member': `
    select token_family.identity_id, family_id, organization_id from token_family
    left join organization_member using (organization_id, identity_id)
    left join organization_ending using (organization_id)
    where organization_id is not null and revoked_at is null and expires_at > $now and member_id is null
      and ended_at is null`,
  'the revocation of a token family has an audit event at that instant': `
    select identity_id, family_id, revoked_at from token_family
    where revoked_at is not null and not exists (select from audit_event where occurred_at = revoked_at)`,
  'a code that was not redeemed has issued no tokens': `
    select identity_id, family_id from token_family
    where code_redeemed_at is null and (
      refresh_root_sha256 is not null or rotated_at is not null or generation <> 0
      or cardinality(current_refresh_sha256) + cardinality(previous_refresh_sha256) > 0
      or exists (
        select from token_access_token
        where token_access_token.identity_id = token_family.identity_id
          and token_access_token.family_id = token_family.family_id
      )
    )`,
  'a redeemed code has started a token family': `
    select identity_id, family_id from token_family
    where code_redeemed_at is not null
      and (refresh_root_sha256 is null or rotated_at is null or cardinality(current_refresh_sha256) = 0)`,
  'no refresh token is both used and current': `
    select identity_id, family_id from token_family where current_refresh_sha256 && previous_refresh_sha256`,
  'a generation does not exceed the maximum of siblings': `
    select identity_id, family_id, generation from token_family
    where greatest(cardinality(current_refresh_sha256), cardinality(previous_refresh_sha256))
      > ${limits.refreshSiblingsMax}`,
  'a set of signing keys has one for each algorithm, and they sign at the same time': `
    select version from token_signing_key group by version
    having count(*) <> 3 or min(activates_at) <> max(activates_at)`,
  'keys that sign, now or later, have their private keys': `
    select version, kid from token_signing_key one
    where sealed_private_key is null
      and not exists (select from token_signing_key where version > one.version and activates_at <= $now)`,
  'an active access token has a token family, and no scope beyond it': `
    select token_access_token.identity_id, token_access_token.family_id, token_access_token.scope
    from token_access_token
    left join token_family using (identity_id, family_id)
    where token_access_token.expires_at > $now and (token_access_token.scope <@ token_family.scope) is not true`,
}

/**
 * Reads the tables that have had rows: no rule about rows can be violated in the others, which most tests leave empty.
 * Asking for a row would make a new database read the definition of every table, which takes half of a short test.
 */
async function readUsedTables(db: Database): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select relname as name, array_agg(attname::text) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = ${isDistributed(db) ? sql`pg_my_temp_schema()` : sql`current_schema()::regnamespace`}
      and relkind = 'r' and pg_relation_size(pg_class.oid) > 0
      and attnum > 0 and not attisdropped
    group by relname`.execute(db)
  return rows
}

/** Throws with every violated invariant, and the first rows that violate it. */
export async function verifyInvariants(db: Database, now: Date): Promise<void> {
  if (isDistributed(db) && !db.isTransaction) return db.transaction().execute((tx) => verifyInvariants(tx, now))
  if (isDistributed(db)) await copyTables(db)
  const tables = await readUsedTables(db)
  const queries = { ...invariants, ...referencesIn(tables), ...textsIn(tables) }
  const broken: string[] = []
  for (const [sentence, query] of Object.entries(queries)) {
    const text = query.replaceAll('$now', `timestamptz '${now.toISOString()}'`)
    const { rows } = await sql.raw(text).execute(db)
    if (rows.length > 0) broken.push(`${sentence}, but there are ${rows.length}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  if (broken.length > 0) throw new Error(`database invariants violated:\n${broken.join('\n')}`)
}
