-- For which organization the tokens of a consent are, and by which of its connections the person had signed in there.
alter table token_lineage add organization_id uuid;
alter table token_lineage add sso_connection_id uuid check (sso_connection_id is null or organization_id is not null);
create index token_lineage_of_organization on token_lineage (organization_id) where organization_id is not null;

-- A session that the sign-in of an organization opened, without a passkey, is of this one identity alone.
alter table session add identity_id uuid;

-- In which organizations a session has been signed in by their own provider, as which identity, and when.
create table session_enterprise_sso (
  session_id uuid not null references session on delete cascade,
  organization_id uuid not null,
  connection_id uuid not null,
  identity_id uuid not null,
  authenticated_at timestamptz not null,
  primary key (session_id, organization_id)
);
create index session_enterprise_sso_of_organization on session_enterprise_sso (organization_id, connection_id);
create index session_enterprise_sso_of_identity on session_enterprise_sso (identity_id);
