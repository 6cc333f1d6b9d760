-- That an owner has confirmed a connection as it is now: whose SSO the organization requires is met by it.
create table organization_sso_confirmation (
  organization_id uuid not null references organization on delete cascade,
  connection_id uuid not null,
  -- Null for a connection that was in force before confirmations were asked for.
  identity_id uuid,
  confirmed_at timestamptz not null,
  primary key (organization_id, connection_id)
);
insert into organization_sso_confirmation (organization_id, connection_id, confirmed_at)
  select organization_id, connection_id, tested_at from sso_connection where enabled and tested_at is not null;
