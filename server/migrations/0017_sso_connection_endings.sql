-- SSO connections that were disabled or deleted while they had signed more members in than one request signs out. The
-- cleanup signs the others out. Until then none of their sessions is accepted, and the connection is not enabled again.
create table sso_connection_ending (
  connection_id uuid primary key,
  organization_id uuid not null
);
