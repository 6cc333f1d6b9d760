-- How many members must approve, beside whoever signs, before an organization has signed.
alter table organization add column approvals_needed integer not null default 0
  check (approvals_needed between 0 and 20);

-- What an app asks an organization to sign. Its name, and how many must approve, are kept from when it was asked.
create table signing_organization_request (
  organization_id uuid not null,
  request_id uuid not null,
  client_id text not null,
  organization_name text not null,
  payload text not null,
  -- As text: nobody asks the database what is in it.
  metadata text,
  approvals_needed integer not null check (approvals_needed between 0 and 20),
  status text not null check (status in ('pending', 'signed', 'denied', 'expired')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  resolved_at timestamptz,
  primary key (organization_id, request_id),
  check ((status in ('signed', 'denied')) = (resolved_at is not null)),
  check (expires_at > created_at)
);
create index signing_organization_request_pending on signing_organization_request (organization_id, client_id)
  where status = 'pending';
create index signing_organization_request_due on signing_organization_request (expires_at) where status = 'pending';
create index signing_organization_request_ended on signing_organization_request (expires_at) where status <> 'signed';

-- Where the request is, for whoever knows its id alone, and whose it is.
create table signing_organization_place (
  request_id uuid primary key,
  organization_id uuid not null,
  client_id text not null
);

-- What members have signed of it, to sign as the organization or to approve. Of a request that was signed there are
-- those that counted; of one that was denied or has expired there are none.
create table signing_organization_answer (
  organization_id uuid not null,
  request_id uuid not null,
  identity_id uuid not null,
  member_id uuid not null,
  role text not null check (role in ('sign', 'approve')),
  key_version integer not null,
  public_key bytea not null check (length(public_key) = 32),
  signature bytea not null check (length(signature) = 64),
  -- The handle under which it was signed; null when the identity is gone.
  signed_as text,
  answered_at timestamptz not null,
  primary key (organization_id, request_id, identity_id),
  foreign key (organization_id, request_id) references signing_organization_request on delete cascade
);
create index signing_organization_answer_of_identity on signing_organization_answer (identity_id);
