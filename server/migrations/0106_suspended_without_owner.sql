-- The last owner of a suspended organization may delete their account: they can name no other one meanwhile. It is
-- active again only with an owner.
alter table organization drop constraint organization_owner_count_check;
alter table organization add constraint organization_owner_count_check
  check (owner_count >= 1 or (owner_count = 0 and status = 'suspended'));
