-- Signing keys of identities. The encrypted private key of a replaced key is deleted at the rotation after it; null
-- from then on.
create table signing_key (
  identity_id uuid not null,
  key_version integer not null check (key_version >= 1),
  public_key bytea not null check (length(public_key) = 32),
  encrypted_private_key text,
  created_at timestamptz not null,
  -- A key signs from `created_at` to `replaced_at`; the current one has none. Public keys are kept, so that old
  -- signatures can be attributed.
  replaced_at timestamptz,
  -- By the key before, over the message of the rotation: evidence for the owner. Null for a first key.
  rotation_signature bytea check (length(rotation_signature) = 64),
  -- When a key up to this one, the last such, replaced one that was lost. Nothing links the two.
  recovered_at timestamptz,
  primary key (identity_id, key_version),
  check (encrypted_private_key is not null or replaced_at is not null)
);
create unique index signing_key_current on signing_key (identity_id) where replaced_at is null;

-- The identity of each current and former public key. No other identity may use it.
create table signing_key_owner (
  public_key bytea primary key,
  identity_id uuid not null
);

create table signing_request (
  identity_id uuid not null,
  request_id uuid not null,
  client_id text not null,
  -- The name of the app when it made the request, and from the answer on, when it was answered: a later name must not
  -- stand in what was signed.
  app_name text,
  payload text not null,
  -- Text: the database does not read it.
  metadata text,
  key_version integer not null,
  public_key bytea not null check (length(public_key) = 32),
  status text not null check (status in ('pending', 'signed', 'denied', 'expired')),
  signature bytea check (length(signature) = 64),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  resolved_at timestamptz,
  -- The username at the time of the signature, for the receipt. It may have changed since.
  signed_handle text,
  -- What the person approved, its signature, the digest of the passkey's assertion, and the assertion itself, which is
  -- in their export alone. Null where only the text was signed.
  approval_statement text,
  approval_signature bytea check (length(approval_signature) = 64),
  approval_presence bytea check (length(approval_presence) = 32),
  approval_evidence text,
  primary key (identity_id, request_id),
  check (num_nulls(approval_statement, approval_signature, approval_presence, approval_evidence) in (0, 4)),
  check (approval_statement is null or status = 'signed'),
  check ((status = 'signed') = (signature is not null)),
  check (status in ('signed', 'denied') = (resolved_at is not null)),
  check (expires_at > created_at)
);
-- The signing requests of a user, the newest first.
create index signing_request_of_identity on signing_request (identity_id, created_at, request_id);
create index signing_request_pending on signing_request (identity_id, client_id) where status = 'pending';
create index signing_request_to_delete on signing_request (expires_at) where (status || '') <> 'signed';
-- Cleanup finds requests by expiry. No other statement may use these indexes: with statistics from a time when few
-- requests were pending, the planner would take them for empty and read all pending requests of everybody where one row
-- was needed. So their conditions are written as only cleanup writes them, and cannot be derived from `status =
-- 'pending'`.
create index signing_request_to_expire on signing_request (expires_at) where (status || '') = 'pending';

-- The shard key of a request, by its id, and its app.
create table signing_request_route (
  request_id uuid primary key,
  identity_id uuid not null,
  client_id text not null
);

-- The transparency log of signing keys: an append-only tree (RFC 9162). This row is its head; appending locks it.
create table transparency_log (
  log smallint primary key check (log = 0),
  origin text not null,
  public_key bytea not null check (length(public_key) = 32),
  sealed_private_key text not null,
  created_at timestamptz not null,
  size integer not null check (size >= 0),
  root_hash bytea not null check (length(root_hash) = 32),
  checkpoint text not null
);

-- Events of a key. A leaf is in the tree once leaf_index is set. Before that, it waits from integrate_at on.
create table transparency_leaf (
  identity_sha256 bytea not null,
  -- Position among the leaves of the identity, from 1. Each leaf contains the hash of the one before, so of two written
  -- at once only one is kept.
  sequence integer not null check (sequence >= 1),
  leaf_data text not null,
  leaf_sha256 bytea not null,
  integrate_at timestamptz not null,
  leaf_index integer,
  primary key (identity_sha256, sequence)
);
create unique index transparency_leaf_hash on transparency_leaf (leaf_sha256);
create unique index transparency_leaf_index on transparency_leaf (leaf_index);
create index transparency_leaf_pending on transparency_leaf (integrate_at) where leaf_index is null;

-- The complete subtrees, each of 2^level leaves. They never change, and every proof consists of a few of them.
create table transparency_node (
  level smallint not null,
  node_index integer not null,
  hash bytea not null check (length(hash) = 32),
  primary key (level, node_index)
);

-- A request to an organization to sign. Its name and the number of approvals are those of the time of the request.
create table signing_organization_request (
  organization_id uuid not null,
  request_id uuid not null,
  client_id text not null,
  organization_name text not null,
  -- As in `signing_request`.
  app_name text,
  payload text not null,
  -- Text: the database does not read it.
  metadata text,
  approvals_needed integer not null check (approvals_needed between 0 and 20),
  status text not null check (status in ('pending', 'signed', 'denied', 'expired')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  resolved_at timestamptz,
  -- When it was signed: the last time that a council of the organization had been ended without its consent.
  council_reset_at timestamptz,
  primary key (organization_id, request_id),
  check (status in ('signed', 'denied') = (resolved_at is not null)),
  check (expires_at > created_at)
);
-- The signing requests of an organization, the newest first.
create index signing_organization_request_in_order
  on signing_organization_request (organization_id, created_at, request_id);
create index signing_organization_request_pending on signing_organization_request (organization_id, client_id)
  where status = 'pending';
create index signing_organization_request_to_delete on signing_organization_request (expires_at)
  where (status || '') <> 'signed';
create index signing_organization_request_to_expire on signing_organization_request (expires_at)
  where (status || '') = 'pending';

-- The shard key of a request, by its id, and its app.
create table signing_organization_request_route (
  request_id uuid primary key,
  organization_id uuid not null,
  client_id text not null
);

-- Signatures of members, to sign for the organization or to approve. A signed request keeps those that counted; a
-- denied or expired one keeps none.
create table signing_organization_signature (
  organization_id uuid not null,
  request_id uuid not null,
  identity_id uuid not null,
  member_id uuid not null,
  role text not null check (role in ('sign', 'approve')),
  key_version integer not null,
  public_key bytea not null check (length(public_key) = 32),
  signature bytea not null check (length(signature) = 64),
  -- The username at the time of the signature; null when the identity was deleted.
  signed_handle text,
  signed_at timestamptz not null,
  -- Since when the identity was in the council of the organization; null where there was none.
  admitted_at timestamptz,
  -- As in `signing_request`. Null from the deletion of the identity, because the statement contains the username.
  approval_statement text,
  approval_signature bytea check (length(approval_signature) = 64),
  approval_presence bytea check (length(approval_presence) = 32),
  approval_evidence text,
  primary key (organization_id, request_id, identity_id),
  check (num_nulls(approval_statement, approval_signature, approval_presence, approval_evidence) in (0, 4)),
  foreign key (organization_id, request_id) references signing_organization_request on delete cascade
);
-- Lists the signatures that an identity gave for organizations, in pages.
create index signing_organization_signature_in_order
  on signing_organization_signature (identity_id, signed_at, request_id);

-- The app, organization and role for which an identity gave a signature. Ed25519 is deterministic: the same text has
-- the same signature, so anyone who has the bytes could answer another request with them. The primary key limits a
-- signature to one use, also under concurrency.
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

-- When the audit log last recorded a signing request of an app to an identity or organization, and whether the app was
-- connected. One request an hour is recorded for each app, and a few for all apps that are not connected.
create table signing_request_record (
  signer_id uuid not null,
  client_id text not null,
  is_connected boolean not null,
  recorded_at timestamptz not null,
  primary key (signer_id, client_id)
);
create index signing_request_record_age on signing_request_record (recorded_at);

-- Pending requests of deleted identities, without their text. Their apps are notified when they would have expired;
-- otherwise all requests of one user would end at the same instant.
create table signing_former_request (
  request_id uuid primary key,
  identity_id uuid not null,
  client_id text not null,
  public_key bytea not null check (length(public_key) = 32),
  expires_at timestamptz not null
);
create index signing_former_request_to_expire on signing_former_request (expires_at);

-- Approvals that were started: a person is asked for their passkey. `presence_challenge` is the digest of the statement
-- that the passkey confirms. A row is deleted when the approval is given.
create table signing_approval_flow (
  identity_id uuid not null,
  flow_id uuid not null,
  request_id uuid not null,
  session_id uuid not null,
  role text not null check (role in ('self', 'sign', 'approve')),
  challenge bytea not null check (length(challenge) = 32),
  presence_challenge bytea not null check (length(presence_challenge) = 32),
  challenged_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (identity_id, flow_id)
);
create index signing_approval_flow_of_request on signing_approval_flow (identity_id, request_id);
create index signing_approval_flow_to_delete on signing_approval_flow (expires_at);
