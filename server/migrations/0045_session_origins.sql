-- By which passkey a session was opened, and by which its person proved last that they are there; or by which
-- connection of which organization. Null in sessions of before this was recorded; a job notes it of those that an
-- organization opened.
alter table session add column credential_id text;
alter table session add column proved_by text;
alter table session add column organization_id uuid;
alter table session add column connection_id uuid;
create index session_of_organization on session (organization_id) where organization_id is not null;
create index session_of_unnoted_organization on session (session_id)
  where identity_id is not null and organization_id is null;
