-- Requests of deleted identities, from the event that they have expired until the cleanup deletes them. Without them an
-- app that reads the status after the event would find no request.
create table signing_expired_former_request (
  request_id uuid primary key,
  identity_id uuid not null,
  client_id text not null,
  public_key bytea not null check (length(public_key) = 32),
  expires_at timestamptz not null
);
create index signing_expired_former_request_to_delete on signing_expired_former_request (expires_at);
