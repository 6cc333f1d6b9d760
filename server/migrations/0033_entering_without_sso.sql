-- When the trail told last that an owner came into an organization without its own sign-in, in a session.
create table session_without_sso (
  session_id uuid not null references session on delete cascade,
  organization_id uuid not null,
  noted_at timestamptz not null,
  primary key (session_id, organization_id)
);
