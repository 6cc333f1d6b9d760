-- A key signs from `created_at` to `ended_at`; the one that has not ended is the current one. Keys stay for ever, so
-- that an old signature can be attributed.
alter table signing_key add column ended_at timestamptz;
create unique index signing_key_current on signing_key (identity_id) where ended_at is null;

create table signing_request (
  identity_id uuid not null,
  request_id uuid not null,
  client_id text not null,
  payload text not null,
  -- As text: nobody asks the database what is in it.
  metadata text,
  key_version integer not null,
  public_key bytea not null check (length(public_key) = 32),
  status text not null check (status in ('pending', 'signed', 'denied', 'expired')),
  signature bytea check (length(signature) = 64),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  resolved_at timestamptz,
  primary key (identity_id, request_id),
  check ((status = 'signed') = (signature is not null)),
  check ((status in ('signed', 'denied')) = (resolved_at is not null)),
  check (expires_at > created_at)
);
create index signing_request_pending on signing_request (identity_id, client_id) where status = 'pending';
-- What is swept: requests that led to nothing.
create index signing_request_ended on signing_request (expires_at) where status <> 'signed';

-- Where the request is, for whoever knows its id alone, and whose it is.
create table signing_request_place (
  request_id uuid primary key,
  identity_id uuid not null,
  client_id text not null
);
