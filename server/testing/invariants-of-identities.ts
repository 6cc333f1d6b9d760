/** Queries that find rows of identities and accounts which must not exist. */
export const invariantsOfIdentities: Record<string, string> = {
  'a group has as many members as are counted': `
    select group_id, member_count from user_group
    where deleted_at is null and member_count <> (
      select count(distinct identity_id) from group_member where group_member.group_id = user_group.group_id
    )`,
  'each member is found by identity and by group': `
    select identity_id, group_id from group_member full join group_member_by_group listed using (identity_id, group_id)
    where group_member.identity_id is null or listed.identity_id is null`,
  'each member is in a group': `
    select group_id from group_member left join user_group using (group_id) where user_group.group_id is null`,
  'only the identity providers of its organization, or its directory, name the members of a group': `
    select group_id, source from group_member join user_group using (group_id)
    where deleted_at is null and case
      when organization_id is not null then source not like 'upstream:%'
      when exists (select from scim_token where 'scim:' || token_id = managed_by and scim_token.deleted_at is null)
        then source <> managed_by
      when managed_by is not null then source not in (managed_by, 'manual')
      else source <> 'manual'
    end`,
  'a user of a SCIM token is an identity that the token manages, which may be invited': `
    select scim_user.identity_id, token_id, coalesce(identity.managed_by, invited.managed_by) as managed_by
    from scim_user left join identity using (identity_id)
    left join invited_identity invited on invited.identity_id = scim_user.identity_id
    where coalesce(identity.managed_by, invited.managed_by) is distinct from 'scim:' || token_id`,
  'what a SCIM token manages is one of its users or groups, and the token exists': `
    select managed_by from (
      select identity_id, managed_by from identity where managed_by is not null
      union all select identity_id, managed_by from invited_identity where managed_by is not null
    ) managed
    where not exists (select from scim_user where scim_user.identity_id = managed.identity_id)
    union all select managed_by from user_group
    where deleted_at is null and managed_by is not null
      and not exists (select from scim_token where 'scim:' || token_id = managed_by)`,
  'an invited identity that its directory has deactivated has no invitation': `
    select invited.identity_id from invited_identity invited join invitation using (identity_id)
    where not invited.active`,
  'each source of a suspension manages its identity': `
    select own.identity_id, source from account_suspension own left join identity using (identity_id)
    where source <> 'operator' and source is distinct from managed_by`,
  'an identity that is suspended, or was until the cleanup, has a suspension or scheduled deletion': `
    select identity_id, suspended_at from identity
    where suspended_at is not null and not exists (
      select from account_suspension own
      where own.user_id = identity.user_id and (scope = 'account' or own.identity_id = identity.identity_id)
    ) and not exists (select from identity_deletion due where due.identity_id = identity.identity_id)`,
  'a group of an organization is deleted with it': `
    select key from user_group left join organization using (organization_id)
    where deleted_at is null and user_group.organization_id is not null and organization.organization_id is null`,
  'the slug in the key of a group is kept for its organization': `
    select key from user_group
    where deleted_at is null and organization_id is not null and not exists (
      select from organization_slug
      where slug = split_part(key, ':', 2) and organization_slug.organization_id = user_group.organization_id
        and in_group_key
    )`,
  'each role in an app is of an identity': `
    select app_role_identity.identity_id, role_key from app_role_identity left join identity using (identity_id)
    where identity.identity_id is null`,
  'a user has as many identities as are counted': `
    select user_id, identity_count from user_account
    where identity_count <> (select count(*) from identity where identity.user_id = user_account.user_id)`,
  'a user has a passkey': `
    select user_id from user_account
    where not exists (select from passkey_credential where passkey_credential.user_id = user_account.user_id)`,
  'an identity has its handle reserved': `
    select identity.identity_id, handle, handle_normalized from identity
    left join identity_handle on handle_normalized = lower(handle)
    where identity_handle.identity_id is distinct from identity.identity_id or available_at is not null`,
  'a handle without identity has been released': `
    select handle_normalized, available_at from identity_handle
    where available_at is null
      and not exists (select from identity where lower(handle) = handle_normalized)
      and not exists (select from invited_identity where lower(handle) = handle_normalized)`,
  'each handle and each term is of an identity, which may be invited': `
    select identity_id from (
      select identity_id from identity_handle where identity_id is not null
      union all select identity_id from identity_term
    ) named
    where not exists (select from identity where identity.identity_id = named.identity_id)
      and not exists (select from invited_identity where invited_identity.identity_id = named.identity_id)`,
  'no account has an invited identity': `
    select identity_id from invited_identity join identity using (identity_id)`,
  'an invited identity has its handle reserved': `
    select invited_identity.identity_id, handle, handle_normalized from invited_identity
    left join identity_handle on handle_normalized = lower(handle)
    where identity_handle.identity_id is distinct from invited_identity.identity_id or available_at is not null`,
  'an invited identity is found by its username and its address': `
    select identity_id, handle, email from invited_identity
    where not exists (
      select from identity_term
      where term = lower(handle) and identity_term.identity_id = invited_identity.identity_id
    ) or email is not null and not exists (
      select from identity_term where term = lower(email) and identity_term.identity_id = invited_identity.identity_id
    )`,
  'an invitation of one identity is of an invited one, with its names, address and groups': `
    select invitation_id from invitation left join invited_identity invited using (identity_id)
    where use_count = 0 and invitation.identity_id is not null and (invited.identity_id is null
      or (invitation.handle, invitation.display_name) <> (invited.handle, invited.display_name)
      or invitation.email is distinct from invited.email or not invited.group_ids @> invitation.group_ids)`,
  'a used invitation for one identity is deleted with the identity that accepted it': `
    select invitation_id, identity_id from invitation left join identity using (identity_id)
    where use_count > 0 and invitation.identity_id is not null and identity.user_id is null`,
  'an identity is found by its username': `
    select identity_id, handle from identity
    where not exists (
      select from identity_term where term = lower(handle) and identity_term.identity_id = identity.identity_id
    )`,
  'an identity with an address is found by it, and no other is found by an address': `
    select identity.identity_id, email from identity
    where (email is not null) <> exists (
      select from identity_term where identity_term.identity_id = identity.identity_id and term like '@%'
    ) or email is not null and not exists (
      select from identity_term where identity_term.identity_id = identity.identity_id and term = lower(email)
    )`,
}
