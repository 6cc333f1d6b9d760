-- Registered apps. Few rows, read through a cache.
create table app (
  client_id text primary key,
  name text not null,
  description text,
  icon_url text,
  color text check (color ~ '^#[0-9a-f]{6}$'),
  website_url text,
  privacy_url text,
  terms_url text,
  redirect_uris text[] not null,
  allowed_scopes text[] not null,
  is_public boolean not null,
  id_token_signed_response_alg text not null check (id_token_signed_response_alg in ('RS256', 'ES256', 'EdDSA')),
  access_token_ttl_seconds integer not null,
  refresh_token_ttl_seconds integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A disabled app is treated as unregistered until it is active again.
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- Where a user may be redirected after RP-initiated logout (OpenID Connect RP-Initiated Logout §3).
  post_logout_redirect_uris text[] not null default '{}',
  -- The user who registered and manages the app; null for apps of the operator.
  owner_user_id uuid,
  -- The identity as which the owner registered it: the one that the operator sees. Null once it is deleted.
  owner_identity_id uuid,
  -- Whether the operator disabled the app. Then its owner cannot enable it.
  disabled_by_operator boolean not null default false,
  -- Whether the app receives keys for end-to-end encryption.
  supports_e2ee boolean not null default false,
  -- Public key of the app's server, in the form of app_key_jwk: a user's app key can be bound to it. Null for none.
  app_key_recipient_jwk text,
  -- When the client metadata document was fetched; null for registered apps.
  metadata_fetched_at timestamptz,
  -- Registration metadata of the app: its ID tokens (OpenID Connect Registration §2), required claims, access to
  -- organizations, back-channel logout (OpenID Connect Back-Channel Logout §2.2), and whether a loopback redirect URI
  -- matches any port (RFC 8252 §7.3).
  require_auth_time boolean not null default false,
  id_token_claims boolean not null default true,
  required_claims text[] not null default '{}',
  organization_access text not null default 'create' check (organization_access in ('none', 'read', 'create')),
  backchannel_logout_uri text,
  backchannel_logout_session_required boolean not null default false,
  allow_any_loopback_port boolean not null default false,
  -- Who may use the app: everyone, the members of its groups and organizations, or no one. The contact is shown to
  -- those who may not. Deleted organizations stay in the list, and count for nothing.
  access_mode text not null default 'everyone' check (access_mode in ('everyone', 'restricted', 'none')),
  access_organization_ids uuid[] not null default '{}',
  access_contact text,
  -- Which groups of a user the claim `groups` contains: those that the app names, or all.
  groups_claim text not null default 'assigned' check (groups_claim in ('assigned', 'all'))
);
-- The operator lists apps in pages, the newest first.
create index app_in_order on app (created_at, client_id);
create index app_of_document on app (metadata_fetched_at) where metadata_fetched_at is not null;
create index app_of_owner on app (owner_user_id, created_at);
-- Those that the operator registered, which a document can contain.
create index app_of_operator on app (client_id) where owner_user_id is null and metadata_fetched_at is null;

create table app_secret (
  client_id text not null references app on delete cascade,
  secret_sha256 bytea not null,
  created_at timestamptz not null,
  -- Until when a replaced secret works; null for the current one.
  expires_at timestamptz,
  primary key (client_id, secret_sha256)
);

-- The origins of the redirect URIs. The origin comes first, because the question is whether any app has it.
create table app_origin (
  origin text not null,
  client_id text not null references app on delete cascade,
  primary key (origin, client_id)
);
create index app_origin_of_app on app_origin (client_id);

-- How often people signed in to an app on a day, and how often its requests failed, by error. Each process adds its
-- counts every few seconds, so that no request writes here.
create table app_usage (
  client_id text not null references app on delete cascade,
  -- 'sign_in', or the code of an error.
  kind text not null,
  -- Days since 1970-01-01 (UTC).
  day integer not null,
  count bigint not null,
  last_at timestamptz not null,
  primary key (client_id, kind, day)
);
create index app_usage_day on app_usage (day);

-- Where an app receives events, or a program of the operator. It is disabled when the receiver answers 410.
create table webhook_endpoint (
  -- The ID of the app, or that of a webhook of the service, a UUID.
  receiver_id text primary key,
  client_id text unique references app on delete cascade,
  url text not null,
  -- Types of the events that a webhook of the service receives; of all if empty.
  event_types text[] not null default '{}',
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Until when the receiver counts as slow, because it responded late or failed. Slow receivers have slots of their
  -- own.
  slow_until timestamptz,
  check (client_id is null or (client_id = receiver_id and event_types = '{}'))
);
create index webhook_endpoint_of_service on webhook_endpoint (receiver_id) where client_id is null;

-- Signing secrets. Encrypted instead of hashed, because the sender needs them. A replaced secret also signs until it
-- expires; `expires_at` of the current one is null.
create table webhook_secret (
  receiver_id text not null references webhook_endpoint on delete cascade,
  secret_id uuid not null,
  sealed_secret text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (receiver_id, secret_id)
);

-- Events to deliver. `next_attempt_at` is the time of the next attempt; while a sender works on the row, the time when
-- others may take over; null when the delivery has ended. The attempt count tells a sender that was overtaken.
create table webhook_delivery (
  receiver_id text not null references webhook_endpoint on delete cascade,
  delivery_id uuid not null,
  type text not null,
  -- The event, as long as it may still be sent.
  payload text,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  next_attempt_at timestamptz,
  primary key (receiver_id, delivery_id),
  check ((state = 'pending') = (next_attempt_at is not null)),
  check ((state = 'delivered') = (payload is null))
);
create index webhook_delivery_created on webhook_delivery (created_at);
-- Finds what is due. With a plain condition the planner would use it for queries of one receiver too, and read
-- the deliveries of all others.
create index webhook_delivery_in_order on webhook_delivery (next_attempt_at)
  where (next_attempt_at is not null) and ((attempts + 0) >= 0);
-- Finds the receivers with waiting deliveries one by one, however many each has.
create index webhook_delivery_waiting on webhook_delivery (receiver_id, next_attempt_at)
  where next_attempt_at is not null;

-- Values of an event that end with an identity, because they contain its username: `value` is JSON, to be set at `path`
-- in the data of the event. Deleted with the identity, or when the event is delivered.
create table webhook_delivery_part (
  receiver_id text not null,
  delivery_id uuid not null,
  identity_id uuid not null,
  path text[] not null,
  value text not null,
  primary key (receiver_id, delivery_id, identity_id),
  foreign key (receiver_id, delivery_id) references webhook_delivery on delete cascade
);
create index webhook_delivery_part_of_identity on webhook_delivery_part (identity_id);

-- The outcome of each attempt: a response status, or the reason why there was none.
create table webhook_attempt (
  receiver_id text not null,
  delivery_id uuid not null,
  attempt integer not null,
  attempted_at timestamptz not null,
  response_status integer,
  reason text,
  primary key (receiver_id, delivery_id, attempt),
  foreign key (receiver_id, delivery_id) references webhook_delivery on delete cascade,
  check ((response_status is null) <> (reason is null))
);

-- APIs that apps offer to others, with the consent of a user. Few rows. `resource_id` is never reused; a key may be
-- registered again by another app.
create table app_resource (
  resource_key text primary key,
  resource_id uuid not null unique,
  client_id text not null references app on delete cascade,
  display_name text not null,
  description text,
  scopes text[] not null,
  -- The description of each scope, at the same position; may be empty.
  scope_descriptions text[] not null,
  -- `aud` of its tokens (RFC 7519 §4.1.3).
  audience text not null,
  status text not null check (status in ('active', 'disabled')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Whether the operator disabled the resource. Then its owner cannot enable it.
  disabled_by_operator boolean not null default false,
  check (cardinality(scope_descriptions) = cardinality(scopes))
);
-- Two resources with one audience would accept the tokens of each other. A trailing slash makes no difference.
create unique index app_resource_audience on app_resource (rtrim(audience, '/'));
create index app_resource_of_app on app_resource (client_id);

-- Resources that the operator had disabled, alone or with their app, when the owner deleted the app. Only the operator
-- may give the key or audience to another app; otherwise the owner could restore the resource.
create table app_held_resource (
  resource_key text primary key,
  -- Without a trailing slash.
  audience text not null
);
create index app_held_resource_audience on app_held_resource (audience);

-- The groups that an app names.
create table app_access_group (
  client_id text not null references app on delete cascade,
  group_id uuid not null references user_group on delete cascade,
  primary key (client_id, group_id)
);
create index app_access_group_of_group on app_access_group (group_id);

-- Roles of users in an app, which the operator defines and assigns to groups and single identities.
create table app_role (
  client_id text not null references app on delete cascade,
  -- Claims contain it, and compare it byte by byte.
  key text collate "C" not null,
  display_name text not null,
  -- Its place among the roles of the app.
  position integer not null,
  primary key (client_id, key)
);

create table app_role_group (
  client_id text not null,
  role_key text collate "C" not null,
  group_id uuid not null references user_group on delete cascade,
  primary key (client_id, role_key, group_id),
  foreign key (client_id, role_key) references app_role on delete cascade
);
create index app_role_group_of_group on app_role_group (group_id);

create table app_role_identity (
  identity_id uuid not null,
  client_id text not null,
  role_key text collate "C" not null,
  assigned_at timestamptz not null,
  primary key (identity_id, client_id, role_key),
  foreign key (client_id, role_key) references app_role on delete cascade
);
create index app_role_identity_of_app on app_role_identity (client_id, role_key);

-- Claims of an app that the operator maps from groups, roles or fixed texts.
create table app_claim (
  client_id text not null references app on delete cascade,
  claim text not null,
  -- Its place among the claims of the app.
  position integer not null,
  mapping jsonb not null,
  primary key (client_id, claim)
);

-- Keys of groups to which claims of an app give a meaning, of groups that exist and of others.
create table app_claim_group (
  client_id text not null references app on delete cascade,
  group_key text collate "C" not null,
  primary key (client_id, group_key)
);
create index app_claim_group_by_key on app_claim_group (group_key, client_id);

-- What is declared in the document of a source. Another source, or an operator, made what has no row here.
create table configuration_object (
  object_kind text not null check (object_kind in ('group', 'app', 'invitation', 'organization', 'sink')),
  -- As the document names it. Of an address, the SHA-256 in hexadecimal: it stays when the invitation is gone, so that
  -- no one is invited twice.
  object_key text collate "C" not null,
  managed_by text collate "C" not null,
  group_id uuid unique references user_group on delete cascade,
  client_id text unique references app on delete cascade,
  invitation_id uuid unique,
  organization_id uuid unique,
  sink_id uuid unique references sink on delete cascade,
  -- When an app or a sink is deleted that its document no longer names. Until then, it is disabled or paused.
  delete_at timestamptz,
  primary key (managed_by, object_kind, object_key),
  check (num_nonnulls(group_id, client_id, invitation_id, organization_id, sink_id) = 1)
);
create unique index configuration_invitation on configuration_object (object_key) where object_kind = 'invitation';
create index configuration_object_due on configuration_object (delete_at) where delete_at is not null;
