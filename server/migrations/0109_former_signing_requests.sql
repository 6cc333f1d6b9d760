-- What waited for identities that are deleted, without its text: their apps are told nothing of it before it would have
-- expired anyway, or all that waited for one person would end at one instant.
create table signing_former_request (
  request_id uuid primary key,
  identity_id uuid not null,
  client_id text not null,
  public_key bytea not null check (length(public_key) = 32),
  expires_at timestamptz not null
);
create index signing_former_request_to_expire on signing_former_request (expires_at);
