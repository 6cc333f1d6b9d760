-- Until when a slug that an organization has given up is kept from others; null while it has it.
alter table organization_slug add column free_at timestamptz;
create index organization_slug_free on organization_slug (free_at);
