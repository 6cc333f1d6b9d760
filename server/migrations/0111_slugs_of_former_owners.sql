-- The user who deleted the organization that had the slug; null where there is none, or who has it now.
alter table organization_slug add column former_owner_id uuid;
create index organization_slug_of_former_owner on organization_slug (former_owner_id, free_at);
