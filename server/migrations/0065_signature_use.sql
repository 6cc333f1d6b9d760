-- For which app, organization and role an identity has given a signature. Ed25519 is deterministic: the same text asked
-- again has the same signature, so that whoever holds the bytes could answer another request with them. The key is
-- what makes a signature belong to one use, also of two that are made at once.
create table signing_signature_use (
  identity_id uuid not null,
  signature_sha256 bytea not null check (length(signature_sha256) = 32),
  client_id text not null,
  -- Null where the identity signs for itself.
  organization_id uuid,
  role text not null check (role in ('self', 'sign', 'approve')),
  primary key (identity_id, signature_sha256),
  check ((organization_id is null) = (role = 'self'))
);

insert into signing_signature_use (identity_id, signature_sha256, client_id, organization_id, role)
select identity_id, sha256(signature), client_id, organization_id, role from (
  select identity_id, signature, client_id, null::uuid as organization_id, 'self' as role, resolved_at as given_at
  from signing_request where status = 'signed'
  union all
  select identity_id, signature, client_id, organization_id, role, answered_at
  from signing_organization_answer join signing_organization_request using (organization_id, request_id)
) given
order by given_at
on conflict do nothing;
