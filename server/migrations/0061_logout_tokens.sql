-- Which apps with a back-channel logout URI have been given an ID token in a session, as which identity, and for which
-- organization. `known_session_id` is the session from which their `sid` is derived; `session_id` is the one whose end
-- they are told: another one when the same user has signed in again in that browser.
create table session_app (
  session_id uuid not null,
  known_session_id uuid not null,
  identity_id uuid not null,
  client_id text not null,
  organization_id uuid,
  expires_at timestamptz not null
);
create unique index session_app_once on session_app (
  known_session_id, identity_id, client_id, organization_id
) nulls not distinct;
create index session_app_of_session on session_app (session_id);
create index session_app_of_identity on session_app (identity_id, client_id);
create index session_app_of_organization on session_app (organization_id) where organization_id is not null;
create index session_app_expiry on session_app (expires_at);

-- Logout tokens to send. `due_at` is when one is sent next; while a sender has it, when others may take it over. The
-- number of attempts tells a sender that was overtaken. A row goes when its token has arrived, or is given up.
create table session_logout (
  client_id text not null,
  logout_id uuid not null,
  identity_id uuid not null,
  session_id uuid not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  due_at timestamptz not null,
  primary key (client_id, logout_id)
);
create index session_logout_due on session_logout (due_at);
