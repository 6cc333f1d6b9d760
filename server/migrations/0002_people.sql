-- A person, the sessions in which they are signed in, and the identities that they show.
create table person (
  user_id uuid primary key,
  identity_count integer not null check (identity_count between 0 and 20),
  created_at timestamptz not null
);

create table session (
  session_id uuid primary key,
  token_sha256 bytea not null,
  user_id uuid not null,
  user_agent text,
  created_at timestamptz not null,
  auth_time timestamptz not null,
  last_seen_at timestamptz not null,
  -- The absolute end; the idle end follows from last_seen_at.
  ends_at timestamptz not null
);
create index session_of_user on session (user_id);
create index session_end on session (ends_at);

create table identity (
  identity_id uuid primary key,
  user_id uuid not null,
  handle text not null,
  display_name text not null,
  avatar_url text,
  email text,
  email_verified boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (email is not null or not email_verified)
);
create index identity_of_user on identity (user_id, created_at);

-- Handle to identity, a table of its own: handles are unique everywhere, whichever shard an identity lives in.
create table identity_handle (
  handle_folded text primary key,
  identity_id uuid not null
);
