import { sql } from 'kysely'
import { digestPrefix } from '@countersign/protocol/formats/signing/key-event'
import { limits } from '@countersign/protocol/formats/limits'
import { organizationScopes } from '@countersign/protocol/formats/role'
import { standardScopes } from '@countersign/protocol/formats/scope'
import type { Database } from '#platform/database/database.ts'
import { referencesIn, textsIn, type Table } from './invariants-of-tables.ts'

/**
 * What must be true of a whole database whenever nobody is writing to it. Each is a sentence, and a query whose rows
 * break it; `$now` stands for the instant of the check. What a constraint of the schema says is not said again.
 */
const invariants: Record<string, string> = {
  'a person has as many identities as are counted': `
    select user_id, identity_count from person
    where identity_count <> (select count(*) from identity where identity.user_id = person.user_id)`,
  'a person has a passkey': `
    select user_id from person
    where not exists (select from passkey_credential where passkey_credential.user_id = person.user_id)`,
  'an identity holds its handle': `
    select identity.identity_id, handle, handle_folded from identity
    left join identity_handle on handle_folded = lower(handle)
    where identity_handle.identity_id is distinct from identity.identity_id or free_at is not null`,
  'a handle that nobody holds was given up': `
    select handle_folded, free_at from identity_handle
    where free_at is null and not exists (select from identity where lower(handle) = handle_folded)`,
  'a public signing key has the owner that is recorded': `
    select signing_key.identity_id, key_version from signing_key
    left join signing_key_owner using (public_key)
    where signing_key_owner.identity_id is distinct from signing_key.identity_id`,
  'an identity with signing keys has a current one, the last, and each begins where the one before ended': `
    select identity_id, key_version from (
      select identity_id, key_version, created_at, ended_at,
        lead(created_at) over keys as next_created_at, lag(key_version, 1, 0) over keys as before
      from signing_key window keys as (partition by identity_id order by key_version)
    ) one where key_version <> before + 1 or ended_at is distinct from next_created_at`,
  'an organization has as many owners as are counted': `
    select organization_id, owner_count from organization where owner_count <> (
      select count(*) from organization_member
      where organization_member.organization_id = organization.organization_id and role = 'owner'
    )`,
  'an organization has its slug, and a slug its organization': `
    select organization_id, organization.slug, organization_slug.slug as taken from organization
    full join (select * from organization_slug where free_at is null) organization_slug using (organization_id)
    where organization.slug is distinct from organization_slug.slug`,
  'a member has each scope once, none that there is not, and an owner all of them': `
    select organization_id, member_id, role, scopes from organization_member
    where not scopes <@ array['${organizationScopes.join("','")}']
      or cardinality(scopes) <> (select count(distinct scope) from unnest(scopes) scope)
      or (role = 'owner' and cardinality(scopes) <> ${organizationScopes.length})`,
  'the last key of an organization is in force, and each before it has ended when the next began': `
    select organization_id, version from (
      select organization_id, version, ended_at,
        lead(created_at) over keys as next_created_at, lead(version) over keys as next
      from organization_key window keys as (partition by organization_id order by version)
    ) one where (ended_at is null) <> (next is null) or (next = version + 1 and ended_at <> next_created_at)`,
  'what members are granted is a key that they grant each other': `
    select organization_id, key_id, member_id from organization_key_grant
    join organization_key using (organization_id, key_id) where custody <> 'identity_grants'`,
  'a verified domain is of the one organization that has proved it': `
    select domain, proved.organization_id, verified.organization_id as holder
    from (select * from organization_domain where verified_at is not null) proved
    full join organization_verified_domain verified using (domain)
    where (proved.organization_id, proved.domain_id) is distinct from (verified.organization_id, verified.domain_id)`,
  'a delegation is of an identity that has connected its source, or it was revoked': `
    select delegation_grant.identity_id, delegation_id from delegation_grant
    left join authorization_consent consent
      on consent.identity_id = delegation_grant.identity_id and consent.client_id = source_client_id
    where revoked_at is null and consent.client_id is null`,
  'the end of a delegation stands in the trail once, if a person made it': `
    select identity_id, delegation_id from delegation_grant where revoked_at is not null and 1 < (
      select count(*) from audit_entry
      where audit_entry.identity_id = delegation_grant.identity_id and action = 'delegation.revoked'
        and details ->> 'delegationId' = delegation_id::text
    )`,
  'a delegation was used last in the last minute that counts a use of it': `
    select grants.identity_id, grants.delegation_id from delegation_grant grants
    join delegation_use uses using (identity_id, delegation_id)
    group by grants.identity_id, grants.delegation_id, last_used_at
    having date_trunc('minute', last_used_at) is distinct from max(used_at)`,
  'a use is of a delegation, or of a deleted identity whose uses are being swept': `
    select uses.identity_id, uses.delegation_id from delegation_use uses
    left join delegation_grant using (identity_id, delegation_id)
    left join delegation_former_identity former on former.identity_id = uses.identity_id
    where delegation_grant.identity_id is null and former.identity_id is null`,
  'what is held of a deleted app no app has': `
    select one.resource_key from app_resource one join app_held_resource held
    on one.resource_key = held.resource_key or rtrim(one.audience, '/') = held.audience`,
  'a signing request is bound to a key that its identity had then, and pending ones to the current key': `
    select request_id from signing_request
    left join signing_key using (identity_id, key_version, public_key)
    where signing_key.created_at is null or signing_key.created_at > signing_request.created_at
      or (status = 'pending' and ended_at is not null)`,
  'a signing request has its place, and a place its request': `
    select request_id from signing_request
    full join signing_request_place using (identity_id, request_id, client_id)
    where signing_request.status is null or signing_request_place.request_id is null`,
  'an answer to a signing request stands in the trail, once': `
    select request_id, status from signing_request where status in ('signed', 'denied') and 1 <> (
      select count(*) from audit_entry
      where audit_entry.identity_id = signing_request.identity_id and action = 'signing.' || status
        and details ->> 'requestId' = request_id::text
    )`,
  'a signature belongs to the app, the organization and the role that it answered': `
    select given.request_id from (
      select identity_id, request_id, client_id, null::uuid as organization_id, 'self' as role, signature
      from signing_request where status = 'signed'
      union all
      select identity_id, request_id, client_id, organization_id, role, signature
      from signing_organization_answer join signing_organization_request using (organization_id, request_id)
      where exists (select from identity where identity.identity_id = signing_organization_answer.identity_id)
    ) given
    left join signing_signature_use used
      on used.identity_id = given.identity_id and signature_sha256 = sha256(signature)
    where (used.client_id, used.role) is distinct from (given.client_id, given.role)
      or used.organization_id is distinct from given.organization_id`,
  'what an organization has signed has a signature and as many approvals as it took, and what ended has none': `
    select request_id, status, approvals_needed from signing_organization_request where case status
      when 'signed' then
        approvals_needed > (
          select count(*) from signing_organization_answer answer
          where answer.organization_id = signing_organization_request.organization_id
            and answer.request_id = signing_organization_request.request_id and role = 'approve'
        ) or not exists (
          select from signing_organization_answer answer
          where answer.organization_id = signing_organization_request.organization_id
            and answer.request_id = signing_organization_request.request_id and role = 'sign'
        )
      when 'pending' then false
      else exists (
        select from signing_organization_answer answer
        where answer.organization_id = signing_organization_request.organization_id
          and answer.request_id = signing_organization_request.request_id
      ) end`,
  'a person signs or approves once for an organization': `
    select request_id, user_id from signing_organization_answer join identity using (identity_id)
    group by request_id, user_id having count(*) > 1`,
  'a request to an organization has its place, and a place its request': `
    select request_id from signing_organization_request
    full join signing_organization_place using (organization_id, request_id, client_id)
    where signing_organization_request.status is null or signing_organization_place.organization_id is null`,
  'the end of a request to an organization stands in the trail, once': `
    select request_id, status from signing_organization_request where status in ('signed', 'denied') and 1 <> (
      select count(*) from audit_entry
      where audit_entry.organization_id = signing_organization_request.organization_id
        and details ->> 'requestId' = request_id::text and details ->> 'completes' = 'true'
        and (action = 'organization.signing.denied') = (status = 'denied')
    )`,
  'what was signed for an organization stands in the trail': `
    select request_id, identity_id, role from signing_organization_answer answer where not exists (
      select from audit_entry
      where audit_entry.organization_id = answer.organization_id and audit_entry.identity_id = answer.identity_id
        and details ->> 'requestId' = request_id::text and at = answered_at
        and action = case role when 'sign' then 'organization.signing.signed' else 'organization.signing.approved' end
    )`,
  'a signing key has its leaf, or the log waits for it': `
    select signing_key.identity_id, key_version from signing_key where in_log is distinct from exists (
      select from transparency_leaf
      where identity_sha256 = sha256(convert_to('${digestPrefix}' || signing_key.identity_id, 'UTF8'))
        and transparency_leaf.key_version = signing_key.key_version and event <> 'removed'
        and leaf::jsonb ->> 'publicKey' = encode(public_key, 'base64')
    )`,
  'the log has as many leaves as it counts, and no gap between them': `
    select size from transparency_log
    where size <> (select count(leaf_index) from transparency_leaf)
      or size <> (select coalesce(max(leaf_index) + 1, 0) from transparency_leaf)
      or size <> (select count(*) from transparency_node where level = 0)`,
  'a leaf that has its place is in the tree there': `
    select leaf_index from transparency_leaf left join transparency_node on level = 0 and node_index = leaf_index
    where leaf_index is not null and hash is distinct from leaf_sha256`,

  'a session began with a recorded sign-in': `
    select user_id, count(*) from session group by user_id having count(*) > (
      select count(*) from audit_entry
      where audit_entry.user_id = session.user_id
        and action in ('account.registered', 'session.started', 'sso.signed_in')
    )`,
  'a session lives no longer than a session may': `
    select session_id, created_at, ends_at from session
    where ends_at > created_at + ${limits.sessionLifetimeSeconds} * interval '1 second' or auth_time < created_at`,
  'a person has no more sessions than they may': `
    select user_id, count(*) from session group by user_id having count(*) > ${limits.sessionsPerUserMax}`,
  'a session was opened by a passkey that its person has': `
    select user_id, session_id from session left join passkey_credential using (credential_id, user_id)
    where session.credential_id is not null and public_key is null`,
  'a session of one identity was opened by a provider that named it, and a person has what is named in their session': `
    select session_id, session.identity_id from session
    left join session_enterprise_sso named using (session_id)
    left join identity on identity.identity_id = named.identity_id
    where identity.user_id <> session.user_id
      or (session.identity_id is not null and session.identity_id is distinct from named.identity_id)`,

  'a key to encrypt to is of a connection by SAML, and no more of them open than may': `
    select connection_id, count(*) from sso_encryption_key join sso_connection using (connection_id)
    group by connection_id, settings having settings ->> 'protocol' <> 'saml'
      or count(*) filter (where ends_at is null or ends_at > $now) > ${limits.samlEncryptionKeysMax}`,

  'a directory has named as many people as are counted': `
    select connection_id, people_count from sso_provisioning where people_count <> (
      select count(*) from sso_provisioned_person
      where sso_provisioned_person.connection_id = sso_provisioning.connection_id
    )`,
  'whom a directory has turned away is connected with no member': `
    select sso_provisioned_person.connection_id, person_id from sso_provisioned_person
    join sso_link using (connection_id, subject) join organization_member using (organization_id, member_id)
    where not active`,

  'an app with a secret is not public, and any other is': `
    select client_id from app
    where is_public = exists (select from app_secret where app_secret.client_id = app.client_id)`,

  'an app that a person registered has its owner': `
    select client_id, owner_user_id from app left join person on person.user_id = owner_user_id
    where owner_user_id is not null and person.user_id is null`,
  'a person has no more apps of their own than they may': `
    select owner_user_id, count(*) from app where owner_user_id is not null
    group by owner_user_id having count(*) > ${limits.appsPerUserMax}`,
  'an app or a resource that the operator holds is disabled': `
    select client_id from app where is_held and status = 'active'
    union all select resource_key from app_resource where is_held and status = 'active'`,
  'an app has no more resources than it may': `
    select client_id, count(*) from app_resource group by client_id having count(*) > ${limits.resourcesPerAppMax}`,
  'a resource has scopes, each once, and none that means something to us': `
    select resource_key, scopes from app_resource
    where cardinality(scopes) not between 1 and ${limits.scopesPerResourceMax}
      or cardinality(scopes) <> (select count(distinct scope) from unnest(scopes) scope)
      or scopes && array['${standardScopes.join("','")}']
      or exists (select from unnest(scopes) scope where scope like 'e2ee:%')`,
  'no resource is known by the key of another': `
    select one.resource_key, one.audience from app_resource one
    join app_resource other on rtrim(one.audience, '/') = other.resource_key
    where one.resource_key <> other.resource_key`,
  'a resource was offered by an act in the trail, once': `
    select resource_key from app_resource where 1 <> (
      select count(*) from audit_entry
      where audit_entry.client_id = app_resource.client_id and action = 'resource.created'
        and details ->> 'resource' = resource_key
    )`,
  'a webhook has one secret that does not end': `
    select webhook_endpoint.client_id, count(secret_id) from webhook_endpoint
    left join webhook_secret on webhook_secret.client_id = webhook_endpoint.client_id and expires_at is null
    group by webhook_endpoint.client_id having count(secret_id) <> 1`,
  'nothing waits to be delivered to who is gone': `
    select client_id, delivery_id from webhook_delivery join webhook_endpoint using (client_id)
    where state = 'waiting' and disabled_at is not null`,
  'what was delivered was taken by the receiver at its last attempt, and what was not never was': `
    select client_id, delivery_id, state, attempts from webhook_delivery
    where (state = 'delivered') <> exists (
      select from webhook_attempt
      where webhook_attempt.client_id = webhook_delivery.client_id
        and webhook_attempt.delivery_id = webhook_delivery.delivery_id
        and attempt = attempts and status between 200 and 299
    )`,

  'a consent has been recorded in the trail': `
    select identity_id, client_id from authorization_consent where not exists (
      select from audit_entry
      where audit_entry.identity_id = authorization_consent.identity_id
        and audit_entry.client_id = authorization_consent.client_id and action = 'app.authorized'
    )`,
  'a key in an app is of an identity that has connected it': `
    select identity_id, client_id from authorization_app_key
    left join authorization_consent using (identity_id, client_id) where authorization_id is null`,
  'what lives of a lineage was consented to': `
    select identity_id, lineage_id, token_lineage.scope, authorization_consent.scope as consented from token_lineage
    left join authorization_consent using (identity_id, client_id)
    where revoked_at is null and ends_at > $now and (
      authorization_consent.scope is null
      or (by_passkey is not false and (token_lineage.scope <@ authorization_consent.scope) is not true)
    )`,
  'what an organization’s provider alone has agreed to is for that organization': `
    select identity_id, lineage_id from token_lineage where by_passkey is false and sso_connection_id is null`,
  'what lives of a lineage for an organization is of a member of it': `
    select token_lineage.identity_id, lineage_id, organization_id from token_lineage
    left join organization_member using (organization_id, identity_id)
    where organization_id is not null and revoked_at is null and ends_at > $now and member_id is null`,
  'a lineage that was ended early has an act in the trail at that instant': `
    select identity_id, lineage_id, revoked_at from token_lineage
    where revoked_at is not null and not exists (select from audit_entry where at = revoked_at)`,
  'a code that was not redeemed has given nothing': `
    select identity_id, lineage_id from token_lineage
    where code_spent_at is null and (
      family_sha256 is not null or rotated_at is not null or generation <> 0
      or cardinality(live_sha256) + cardinality(spent_sha256) > 0
      or exists (
        select from token_access
        where token_access.identity_id = token_lineage.identity_id
          and token_access.lineage_id = token_lineage.lineage_id
      )
    )`,
  'a code that was redeemed has begun a family': `
    select identity_id, lineage_id from token_lineage
    where code_spent_at is not null
      and (family_sha256 is null or rotated_at is null or cardinality(live_sha256) = 0)`,
  'no refresh token is spent and live': `
    select identity_id, lineage_id from token_lineage where live_sha256 && spent_sha256`,
  'a generation has no more siblings than it may': `
    select identity_id, lineage_id, generation from token_lineage
    where greatest(cardinality(live_sha256), cardinality(spent_sha256)) > ${limits.refreshSiblingsMax}`,
  'a set of signing keys has one for each algorithm, and they sign at the same time': `
    select version from token_signing_key group by version
    having count(*) <> 3 or min(signs_at) <> max(signs_at)`,
  'keys that sign, now or later, have their private halves': `
    select version, kid from token_signing_key one
    where sealed_private_key is null
      and not exists (select from token_signing_key where version > one.version and signs_at <= $now)`,
  'an access token that has not expired has a lineage, and no scope beyond it': `
    select token_access.identity_id, token_access.lineage_id, token_access.scope from token_access
    left join token_lineage using (identity_id, lineage_id)
    where expires_at > $now and (token_access.scope <@ token_lineage.scope) is not true`,
}

/** The tables that have a row: of the others, which most tests leave most of, no rule about rows can be broken. */
async function readFilledTables(db: Database): Promise<Table[]> {
  const tables = await db.introspection.getTables()
  const filled = tables.map(({ name }) => sql`exists(select from ${sql.table(name)}) as ${sql.ref(name)}`)
  const { rows } = await sql<Record<string, boolean>>`select ${sql.join(filled)}`.execute(db)
  return tables
    .filter(({ name }) => rows[0]?.[name])
    .map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }))
}

/** Throws with every invariant that does not hold, and the first rows that break it. */
export async function verifyInvariants(db: Database, now: Date): Promise<void> {
  const tables = await readFilledTables(db)
  const queries = { ...invariants, ...referencesIn(tables), ...textsIn(tables) }
  const broken: string[] = []
  for (const [sentence, query] of Object.entries(queries)) {
    const text = query.replaceAll('$now', `timestamptz '${now.toISOString()}'`)
    const { rows } = await sql.raw(text).execute(db)
    if (rows.length > 0) broken.push(`${sentence}, but there are ${rows.length}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  if (broken.length > 0) throw new Error(`The database is not as it must be:\n${broken.join('\n')}`)
}
