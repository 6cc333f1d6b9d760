-- The audit log: one row for each event that a user, an app or the operator may ask about later.
create table audit_event (
  event_id uuid primary key,
  occurred_at timestamptz not null,
  action text not null,
  actor text not null check (actor in ('user', 'app', 'operator', 'system')),
  user_id uuid,
  identity_id uuid,
  client_id text,
  details jsonb not null default '{}',
  -- The organization to which the event belongs.
  organization_id uuid,
  -- Name of the app when the event was recorded. A later rename does not change what the user did.
  app_name text,
  -- User agent of the browser in which the user acted, shown to that user alone.
  device text,
  -- Which operator acted, shown to operators alone: an identity, an admin or SCIM token by its name at that time, or
  -- none of them for ADMIN_TOKEN. Null if no operator did.
  operator_kind text check (operator_kind in ('operator', 'token', 'scim', 'break_glass')),
  operator_id uuid,
  operator_name text,
  -- Place of the event in the audit log, given once its transaction has committed: no event gets a lower one later than
  -- another a higher one. Null until then.
  sequence bigint,
  check (case operator_kind
    when 'operator' then num_nonnulls(operator_id) = 1 and operator_name is null
    when 'token' then num_nonnulls(operator_id, operator_name) = 2
    when 'scim' then num_nonnulls(operator_id, operator_name) = 2
    else num_nonnulls(operator_id, operator_name) = 0
  end)
);
-- All events of an identity, with any actor.
create index audit_event_of_identity on audit_event (identity_id, event_id);
-- Events of an identity that name no user. There are few, and they are found without reading the others.
create index audit_event_of_identity_alone on audit_event (identity_id, event_id) where user_id is null;
create index audit_event_of_organization on audit_event (organization_id, event_id) where organization_id is not null;
create index audit_event_of_user on audit_event (user_id, event_id) where user_id is not null;
-- When an operator last looked at an identity, which is recorded once in ten minutes.
create index audit_event_of_view on audit_event (identity_id, occurred_at) where action = 'identity.viewed';

-- Events that have no place yet.
create index audit_event_unnumbered on audit_event (event_id) where sequence is null;
create unique index audit_event_in_sequence on audit_event (sequence) where sequence is not null;
create index audit_event_of_identity_in_sequence on audit_event (identity_id, sequence) where sequence is not null;
create index audit_event_of_organization_in_sequence on audit_event (organization_id, sequence)
  where organization_id is not null and sequence is not null;

-- When a backup was created.
create index audit_event_of_backup on audit_event (occurred_at) where action = 'backup.created';

-- The audit log as a chain of hashes: a row for each place. A reader who keeps its head notices any change.
create table audit_chain (
  sequence bigint primary key,
  -- SHA-256 of the event without its details, with the digest of those, the place, and the hash of the place before.
  hash bytea not null,
  -- Digest of what can be erased: details, name of the app, user agent. Hashed with the salt, so that it does not show
  -- them after they were deleted with it. Null from then.
  details_digest bytea not null,
  salt bytea
);

-- Last place of the audit log, which the process that numbers events locks, and the last place whose event was deleted
-- with all events before it. One row.
create table audit_chain_head (
  version integer primary key check (version = 0),
  sequence bigint not null,
  hash bytea,
  pruned_sequence bigint not null,
  pruned_hash bytea
);

-- Receivers to which the audit log is sent.
create table sink (
  sink_id uuid primary key,
  key text not null unique,
  kind text not null check (kind in ('http', 'syslog')),
  url text not null,
  -- Names of the headers of requests, and their values as a sealed JSON object.
  header_names text[] not null default '{}',
  sealed_headers text,
  -- Secret that signs requests, sealed.
  sealed_secret text check ((kind = 'http') = (sealed_secret is not null)),
  -- The secret before, which also signs until then.
  previous_sealed_secret text,
  previous_secret_until timestamptz,
  ca_pem text,
  actions text[] not null,
  status text not null check (status in ('enabled', 'paused')),
  -- Place up to which the receiver has all events.
  cursor_sequence bigint not null,
  -- Raised by each change: what was sent before it does not move the cursor after it.
  version integer not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamptz not null,
  -- Process that sends, until when.
  lease_id uuid,
  leased_until timestamptz,
  last_error text check (
    last_error in ('address_not_allowed', 'unreachable', 'certificate_invalid', 'timed_out', 'rejected', 'not_signed')
  ),
  last_delivered_at timestamptz,
  created_at timestamptz not null,
  -- Of the last change by an operator or a document.
  updated_at timestamptz not null,
  check ((previous_sealed_secret is null) = (previous_secret_until is null))
);

-- Audit events of organizations without a place in the trail. A request adds one without a lock that others need.
create table organization_trail_pending (
  organization_id uuid not null,
  event_id uuid not null,
  primary key (organization_id, event_id)
);

-- Trail of an organization: its audit events as a chain of hashes. A reader who keeps its head notices any change.
create table organization_trail (
  organization_id uuid not null,
  sequence integer not null,
  event_id uuid not null,
  -- Canonical JSON with the digest of the entry before.
  entry text not null,
  -- Hashed with the details of the event, so that the entry does not show them after both were deleted. Null from then.
  salt bytea,
  -- Details that members have signed, as canonical JSON; deleted with the salt. Null where the event has them itself.
  details text,
  -- Proposal that an act carried out, as canonical JSON. Null for other entries.
  proposal text,
  primary key (organization_id, sequence)
);

-- Signatures of the members who did or approved what an entry records. The first one is of who did it.
create table organization_act_signature (
  organization_id uuid not null,
  sequence integer not null,
  position integer not null,
  -- Canonical JSON, and what proves it: digest of the passkey's assertion, and signature over both.
  statement text not null,
  presence bytea not null,
  signature bytea not null,
  primary key (organization_id, sequence, position)
);

-- Last entry of each trail, which the process that appends to it locks.
create table organization_trail_head (
  organization_id uuid primary key,
  sequence integer not null,
  head text,
  -- Digest of the last signed statement, which the next one names. Null before the first one.
  last_act text
);

-- Attempts counted in a window, where processes share their rate limits. Unlogged: no row costs a disk flush, and a
-- crash of the database resets all windows.
create unlogged table rate_limit_window (
  key_sha256 bytea primary key,
  count integer not null,
  expires_at timestamptz not null
);
create index rate_limit_window_expiry on rate_limit_window (expires_at);

-- Pictures of identities, apps, organizations and the service, as WebP squares. A reader knows only the picture's
-- random ID, which is unique across all shards and tells nothing about the owner.
create table picture (
  owner_id text not null,
  picture_id uuid not null,
  owner_kind text not null check (owner_kind in ('identity', 'app', 'organization', 'service')),
  -- Of 64, 256 and 512 pixels.
  small bytea not null,
  medium bytea not null,
  large bytea not null,
  created_at timestamptz not null,
  -- Until when an uploaded picture can be put to use; null while it is in use.
  expires_at timestamptz,
  primary key (owner_id, picture_id)
);
create unique index picture_by_id on picture (picture_id);
create index picture_end on picture (expires_at);

-- Changes of the settings that operators can change while the service runs. The last revision applies.
create table setting_revision (
  revision integer primary key,
  created_at timestamptz not null,
  -- Values by key. A setting without a value has its default.
  stored jsonb not null,
  changed_keys text[] not null,
  restored_from integer,
  -- Which operator made the change, as in audit events.
  operator_kind text not null check (operator_kind in ('operator', 'token', 'break_glass')),
  operator_id uuid,
  operator_name text
);
