-- A user. Sessions and identities refer to it.
create table user_account (
  user_id uuid primary key,
  identity_count integer not null check (identity_count between 0 and 20),
  created_at timestamptz not null,
  -- Set while every identity of the user is suspended; `suspended_until` is when the first of them is active again.
  suspended_at timestamptz,
  suspended_until timestamptz
);

-- A session. One that an SSO connection opened without a passkey, or a passkey that a recovery link brought, is limited
-- to the identity in `identity_id`.
create table session (
  session_id uuid primary key,
  token_sha256 bytea not null,
  user_id uuid not null,
  user_agent text,
  created_at timestamptz not null,
  auth_time timestamptz not null,
  last_seen_at timestamptz not null,
  -- The absolute expiry. The idle expiry follows from last_seen_at.
  expires_at timestamptz not null,
  -- What opened the session: a passkey, the SSO connection of an organization alone, which names one identity, or a
  -- passkey in `recovery_link`.
  auth_method text not null check (auth_method in ('passkey', 'enterprise_sso', 'recovered_passkey')),
  identity_id uuid,
  organization_id uuid,
  connection_id uuid,
  -- The passkey that opened the session, and the one of the latest authentication. Null without a record of it.
  credential_id text,
  proved_by text,
  -- The token that the browser sends when it mediates a sign-in (FedCM). Null in SSO sessions: they do not sign in to
  -- apps.
  fedcm_token_sha256 bytea check (length(fedcm_token_sha256) = 32),
  proved_request_sha256 bytea check (length(proved_request_sha256) = 32),
  -- Of the recovery whose passkey opened the session: until then, another passkey of the account undoes it.
  hold_until timestamptz,
  check (case auth_method
    when 'passkey' then num_nonnulls(identity_id, organization_id, connection_id, hold_until) = 0
    when 'recovered_passkey' then num_nonnulls(identity_id, hold_until, credential_id, proved_by) = 4
      and num_nonnulls(organization_id, connection_id, fedcm_token_sha256) = 0
    else num_nonnulls(identity_id, organization_id, connection_id) = 3
      and num_nonnulls(credential_id, proved_by, fedcm_token_sha256, proved_request_sha256, hold_until) = 0
  end)
);
create index session_end on session (expires_at);
-- Cleanup finds idle sessions by it.
create index session_last_seen on session (last_seen_at);
-- The SSO sessions of one member are found without reading those of other members.
create index session_of_organization_member on session (organization_id, identity_id) where organization_id is not null;
create index session_of_user on session (user_id);

create table identity (
  identity_id uuid primary key,
  user_id uuid not null,
  handle text not null,
  display_name text not null,
  avatar_url text,
  email text,
  email_verified boolean not null default false,
  -- When control of the address was last proved.
  email_verified_at timestamptz,
  -- Since when the user has this address by a code that they requested. Null if anyone else chose it.
  recovery_email_since timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- By the rows of `account_suspension` and `identity_deletion`. Null in `suspended_until` means until an operator
  -- activates or restores the identity. Once that instant has passed, the identity counts as active.
  suspended_at timestamptz,
  suspended_until timestamptz,
  -- The day when this identity last authorized an app.
  last_seen_on date,
  -- Counts the changes of what its user and operators can edit.
  version integer not null default 1,
  -- The source that alone changes its names and address: `scim:` and the ID of a SCIM token. Null for the user.
  managed_by text check (managed_by like 'scim:%'),
  -- Whether an invitation of that source has created the account too.
  manages_account boolean not null default false,
  check ((email is not null) or (not email_verified)),
  check (managed_by is not null or not manages_account)
);
create index identity_of_user on identity (user_id, created_at);
-- The orders in which the operator lists identities.
create index identity_by_creation on identity (created_at, identity_id);
create index identity_by_handle on identity (lower(handle) collate "C", identity_id);
create index identity_by_last_seen on identity (coalesce(last_seen_on, date '-infinity'), identity_id);

-- Usernames. A table of its own, because a username is unique across all shards.
create table identity_handle (
  handle_normalized text primary key,
  identity_id uuid,
  -- A released username is reserved until then. Only the identity that had it may take it again before; if that
  -- identity is deleted, nobody may.
  available_at timestamptz,
  check (identity_id is not null or available_at is not null)
);
create index identity_handle_free on identity_handle (available_at);
create index identity_handle_of_identity on identity_handle (identity_id);

-- Passkeys (WebAuthn §4, credential record), by credential id.
create table passkey_credential (
  credential_id text primary key,
  user_id uuid not null,
  public_key bytea not null,
  sign_count bigint not null,
  backup_eligible boolean not null,
  backed_up boolean not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  -- What the authenticator keeps as `user.id`. Null if it is the ID of the user.
  user_handle bytea check (length(user_handle) = 32)
);
create index passkey_credential_of_user on passkey_credential (user_id);

-- Ciphertexts that only the browser of the user can decrypt. The server has no key for them.
create table encryption_key_wrap (
  user_id uuid not null,
  wrap_id uuid not null,
  kind text not null check (kind in ('passkey_prf', 'recovery_code', 'device')),
  credential_id text,
  ciphertext text not null,
  created_at timestamptz not null,
  primary key (user_id, wrap_id)
);

create table encryption_recovery_code (
  user_id uuid primary key,
  recovery_auth_sha256 bytea not null,
  created_at timestamptz not null
);

-- What a user's browser remembers of their keys and of the log, sealed under their master key. The service can neither
-- read nor write it. A write replaces the record whose sequence is one less.
create table encryption_self_record (
  user_id uuid primary key,
  sequence integer not null check (sequence >= 1),
  ciphertext text not null,
  updated_at timestamptz not null
);

create table encryption_identity_key (
  identity_id uuid primary key,
  public_key bytea not null,
  encrypted_private_key text not null,
  created_at timestamptz not null,
  -- When a reset replaced the key before, because its user had lost it.
  recovered_at timestamptz
);

-- What only a master key from before a reset opens. It stays until `delete_at`, for users who find the recovery code or
-- a passkey again.
create table encryption_former_ciphertext (
  user_id uuid not null,
  former_id uuid not null,
  kind text not null check (kind in (
    'passkey_prf', 'recovery_code', 'device', 'self_record', 'encryption_key', 'signing_key', 'app_key',
    'organization_key'
  )),
  -- Null for what belongs to the account.
  identity_id uuid,
  -- Passkey, public key, key version, app or organization key of the ciphertext, by its kind.
  reference text,
  ciphertext text not null,
  replaced_at timestamptz not null,
  delete_at timestamptz not null,
  primary key (user_id, former_id)
);
create index encryption_former_ciphertext_due on encryption_former_ciphertext (delete_at);

-- The passkey that can reset the keys of an account, once: a recovery link brought it, and its hold ended without
-- anything that unlocks them. A wrap that is stored deletes the row.
create table encryption_key_reset (
  user_id uuid primary key,
  credential_id text not null,
  -- When the passkey was created.
  recovered_at timestamptz not null
);

-- A ceremony in progress. It is deleted when it is finished, so it can be finished only once.
create table passkey_flow (
  flow_id uuid primary key,
  ceremony text not null check (
    ceremony in ('register', 'authenticate', 'reauthenticate', 'add_passkey', 'recover', 'redeem')
  ),
  challenge text not null,
  user_id uuid,
  identity_id uuid,
  handle text,
  display_name text,
  -- The recovery code that the user entered. The ceremony can be finished only while that code is current.
  recovery_auth_sha256 bytea,
  expires_at timestamptz not null,
  -- SHA-256 of the request_uri of the authorization request that this ceremony authenticates for; null if there is
  -- none. `session.proved_request_sha256` keeps it for the session.
  request_sha256 bytea check (length(request_sha256) = 32),
  -- SHA-256 of the cookie token of the browser that started the ceremony; null for API clients, which have no cookies.
  browser_sha256 bytea check (length(browser_sha256) = 32),
  -- The recovery link that is redeemed, and the `user.id` of the new passkey.
  recovery_link_id uuid,
  user_handle bytea check (length(user_handle) = 32),
  -- The registration is of an invited identity: only the invitation of this identity can finish it.
  is_invited boolean not null default false,
  check (ceremony = 'register' or not is_invited),
  check (num_nonnulls(recovery_link_id, user_handle) = case ceremony when 'redeem' then 2 else 0 end),
  check ((ceremony = 'register') = ((handle is not null) and (display_name is not null) and (identity_id is not null))),
  check ((ceremony = 'authenticate') = (user_id is null)),
  check ((ceremony = 'recover') = (recovery_auth_sha256 is not null))
);
create index passkey_flow_expiry on passkey_flow (expires_at);
create index passkey_flow_of_user on passkey_flow (user_id);

-- An email address that is being verified: one for each identity. The code is stored as a MAC under a key that is not
-- in the database.
create table identity_email_verification (
  identity_id uuid primary key,
  email text not null,
  code_mac bytea not null,
  attempts integer not null default 0 check (attempts between 0 and 5),
  expires_at timestamptz not null
);
create index identity_email_verification_expiry on identity_email_verification (expires_at);

-- An email address that someone proves before they register. The code is stored as a MAC, like those above. Once it was
-- entered, the registration presents the proof instead.
create table registration_email (
  verification_id uuid primary key,
  email text not null,
  code_mac bytea not null,
  attempts integer not null default 0 check (attempts between 0 and 5),
  proof_sha256 bytea unique check (length(proof_sha256) = 32),
  expires_at timestamptz not null
);
create index registration_email_expiry on registration_email (expires_at);

-- A signed-in device asks another device of the same user to unlock it. The rows hold public keys, and a ciphertext
-- that only the requesting device can decrypt. A row lives as long as the requesting session, and at most five minutes.
create table encryption_device_approval (
  user_id uuid not null,
  approval_id uuid not null,
  requesting_session_id uuid not null,
  commitment bytea not null check (length(commitment) = 32),
  approving_session_id uuid,
  approver_public_key bytea check (length(approver_public_key) = 32),
  requester_public_key bytea check (length(requester_public_key) = 32),
  nonce bytea check (length(nonce) = 32),
  ciphertext text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (user_id, approval_id),
  check (approving_session_id <> requesting_session_id),
  check ((approving_session_id is null) = (approver_public_key is null)),
  check ((requester_public_key is null) = (nonce is null)),
  check (requester_public_key is null or approver_public_key is not null),
  check (ciphertext is null or requester_public_key is not null)
);
create index encryption_device_approval_expiry on encryption_device_approval (expires_at);

-- The organizations for which a session is authenticated by SSO, as which identity, and when. Rows are deleted when
-- they have expired, whatever became of the session: a foreign key would look them up for each deleted session, which
-- takes longer than a statement may for a large organization.
create table session_sso_authentication (
  session_id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  identity_id uuid not null,
  authenticated_at timestamptz not null,
  primary key (session_id, organization_id)
);
create index session_sso_authentication_by_age on session_sso_authentication (authenticated_at);
create index session_sso_authentication_of_identity on session_sso_authentication (identity_id);
create index session_sso_authentication_of_organization on session_sso_authentication (organization_id, connection_id);

-- When the audit log last recorded that an owner used an organization without SSO in a session.
create table session_sso_bypass (
  session_id uuid not null,
  organization_id uuid not null,
  recorded_at timestamptz not null,
  primary key (session_id, organization_id)
);
create index session_sso_bypass_by_age on session_sso_bypass (recorded_at);

-- Apps with a back-channel logout URI that received an ID token in a session, for which identity and organization.
-- Their `sid` is derived from `known_session_id`. The end of `session_id` notifies them: it differs when the same user
-- signed in again in that browser.
create table session_app (
  session_id uuid not null,
  known_session_id uuid not null,
  identity_id uuid not null,
  client_id text not null,
  organization_id uuid,
  expires_at timestamptz not null
);
create index session_app_expiry on session_app (expires_at);
create index session_app_of_identity on session_app (identity_id, client_id);
create index session_app_of_organization on session_app (organization_id) where organization_id is not null;
create index session_app_of_session on session_app (session_id);
create unique index session_app_once on session_app (known_session_id, identity_id, client_id, organization_id)
  nulls not distinct;

-- Logout tokens to send. `next_attempt_at` is the time of the next attempt; while a sender works on the row, the time
-- when others may take over. The attempt count tells a sender that was overtaken. A row is deleted when its token was
-- delivered or given up.
create table session_logout (
  client_id text not null,
  logout_id uuid not null,
  identity_id uuid not null,
  session_id uuid not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  next_attempt_at timestamptz not null,
  primary key (client_id, logout_id)
);
create index session_logout_in_order on session_logout (next_attempt_at) where (attempts + 0) >= 0;
-- Finds the apps with waiting tokens one by one, however many tokens each has.
create index session_logout_waiting on session_logout (client_id, next_attempt_at);

-- Until when an app counts as slow, because it responded late or failed. Slow apps have slots of their own.
create table session_logout_receiver (
  client_id text primary key,
  slow_until timestamptz not null
);
create index session_logout_receiver_slow on session_logout_receiver (slow_until);

-- Suspensions, each through one identity: of that identity, or of the whole account.
create table account_suspension (
  user_id uuid not null,
  identity_id uuid not null,
  -- Who suspends, and alone can activate: `operator` for operators, or `scim:` and the ID of a SCIM token. An identity
  -- is suspended as long as one source says so.
  source text not null default 'operator' check (source = 'operator' or source like 'scim:%'),
  scope text not null check (scope in ('account', 'identity')),
  -- Shown to the user.
  reason text not null,
  suspended_at timestamptz not null,
  -- Null: until an operator activates the identity.
  suspended_until timestamptz,
  primary key (user_id, identity_id, source)
);
create index account_suspension_end on account_suspension (suspended_until);

-- Identities that operators delete later. Until then they are suspended.
create table identity_deletion (
  user_id uuid not null,
  identity_id uuid not null,
  -- Shown to the user.
  reason text not null,
  scheduled_at timestamptz not null,
  due_at timestamptz not null,
  -- Not before `due_at`. Later while a process attempts it, and after a refusal.
  attempt_at timestamptz not null,
  -- Code of the error that has refused the last attempt.
  refusal text,
  primary key (user_id, identity_id)
);
create index identity_deletion_due on identity_deletion (attempt_at);

-- Links that operators have mailed to users who lost every passkey. An account may have one open link of each identity.
-- The new passkey stays here, limited to the identity, until its user proves to have the whole account.
create table recovery_link (
  user_id uuid not null,
  recovery_link_id uuid not null,
  identity_id uuid not null,
  state text not null check (
    state in ('issued', 'expired', 'redeemed', 'completed', 'settled', 'cancelled', 'undone')
  ),
  token_sha256 bytea not null check (length(token_sha256) = 32),
  -- Secret of the mailed link that stops the recovery.
  stop_sha256 bytea not null check (length(stop_sha256) = 32),
  reason text not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  redeemed_at timestamptz,
  -- When the passkey becomes valid, unless the user stops the recovery.
  completes_at timestamptz,
  completed_at timestamptz,
  -- Until then, another passkey of the account undoes the recovery.
  hold_until timestamptz,
  -- When it was cancelled or undone.
  ended_at timestamptz,
  -- Set if the user stopped it. Until then no recovery link of the account can be redeemed.
  locked_until timestamptz,
  -- When the next step is due. Later while a process attempts it.
  attempt_at timestamptz,
  -- The passkey, as in `passkey_credential`.
  credential_id text,
  user_handle bytea check (length(user_handle) = 32),
  public_key bytea,
  sign_count bigint,
  backup_eligible boolean,
  backed_up boolean,
  transports text[],
  name text,
  last_used_at timestamptz,
  primary key (user_id, recovery_link_id),
  check ((state in ('cancelled', 'undone')) = (ended_at is not null)),
  check (locked_until is null or state in ('cancelled', 'undone')),
  check ((state in ('redeemed', 'completed')) = (attempt_at is not null)),
  check (state not in ('completed', 'settled') or num_nonnulls(completed_at, hold_until) = 2),
  check (state <> 'redeemed' or num_nonnulls(redeemed_at, completes_at) = 2),
  check (num_nonnulls(
    credential_id, user_handle, public_key, sign_count, backup_eligible, backed_up, transports, name, last_used_at
  ) in (0, 9)),
  check (case
    when state in ('redeemed', 'completed') then credential_id is not null
    when state = 'settled' then true
    else credential_id is null
  end)
);
create unique index recovery_link_open on recovery_link (identity_id)
  where state in ('issued', 'redeemed', 'completed');
create unique index recovery_link_by_token on recovery_link (token_sha256);
create unique index recovery_link_by_stop on recovery_link (stop_sha256);
create unique index recovery_link_by_credential on recovery_link (credential_id) where credential_id is not null;
create index recovery_link_due on recovery_link (attempt_at) where attempt_at is not null;
create index recovery_link_issued on recovery_link (issued_at) where credential_id is null;

-- Groups of identities. A deleted group counts for nothing: a cleanup task deletes its members, and then its row.
create table user_group (
  group_id uuid primary key,
  -- Claims contain it, and compare it byte by byte.
  key text collate "C" not null,
  display_name text not null,
  description text,
  -- Only operators who manage operators change it and its members.
  protected boolean not null default false,
  -- The organization whose identity providers name the members. Null for a group whose members operators choose.
  organization_id uuid,
  -- The source that alone changes the group and its members: `scim:` and the ID of a SCIM token. Null for operators and
  -- for organizations.
  managed_by text check (managed_by like 'scim:%'),
  member_count integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check (organization_id is null or managed_by is null)
);
create unique index user_group_by_key on user_group (key) where deleted_at is null;
create index user_group_of_organization on user_group (organization_id) where organization_id is not null;
create index user_group_of_source on user_group (managed_by) where managed_by is not null;
create index user_group_deleted on user_group (deleted_at) where deleted_at is not null;

create table group_member (
  identity_id uuid not null,
  group_id uuid not null,
  -- Who made the identity a member: `manual` for operators, `upstream:` and the ID of an SSO connection, or `scim:` and
  -- the ID of a SCIM token. An identity is a member as long as one source says so.
  source text not null check (source = 'manual' or source like 'upstream:%' or source like 'scim:%'),
  added_at timestamptz not null,
  -- When the membership of an SSO connection ends, unless a sign-in renews it.
  expires_at timestamptz,
  -- The rules of the SSO connection that gave it. It ends with the last of them.
  rule_ids uuid[] not null default '{}',
  primary key (identity_id, group_id, source),
  check ((source like 'upstream:%') = (expires_at is not null))
);
create index group_member_end on group_member (expires_at) where expires_at is not null;
create index group_member_of_source on group_member (source, group_id) where source <> 'manual';

-- The same members by group, which lists them: each once, whatever the number of its sources.
create table group_member_by_group (
  group_id uuid not null,
  identity_id uuid not null,
  primary key (group_id, identity_id)
);

-- Words by which the operator finds identities: folded usernames, e-mail addresses, their domains, and words of display
-- names. Derived from `identity`: a backup omits them, and a restore derives them again.
create table identity_term (
  term text collate "C" not null,
  identity_id uuid not null,
  primary key (term, identity_id)
);
create index identity_term_of_identity on identity_term (identity_id, term);

-- Operators: the identities with a role in the administration of this service.
create table operator (
  identity_id uuid primary key,
  role text not null check (role in ('owner', 'people', 'apps', 'auditor')),
  granted_at timestamptz not null,
  -- The operator who granted the role. Null for ADMIN_TOKEN.
  granted_by uuid,
  -- When this owner was last mailed that ADMIN_TOKEN is in use.
  break_glass_mailed_at timestamptz
);

-- Tokens by which programs call the admin API.
create table admin_token (
  token_id uuid primary key,
  name text not null,
  permissions text[] not null,
  networks text[] not null,
  token_sha256 bytea not null check (length(token_sha256) = 32),
  -- The secret before the last rotation, and until when it is accepted.
  previous_sha256 bytea check (length(previous_sha256) = 32),
  previous_until timestamptz,
  created_at timestamptz not null,
  -- When the present secret was issued. A rotation extends the token by its lifetime from then.
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  -- To the hour.
  last_used_at timestamptz,
  last_used_address text,
  -- The operator whose rights limit the token. Null for ADMIN_TOKEN.
  created_by uuid,
  check (num_nonnulls(previous_sha256, previous_until) in (0, 2))
);
create index admin_token_by_hash on admin_token (token_sha256);
create index admin_token_by_previous_hash on admin_token (previous_sha256) where previous_sha256 is not null;
create index admin_token_end on admin_token (expires_at);
create index admin_token_of_operator on admin_token (created_by);

-- Links by which the first operator becomes the owner. Each start without an operator adds one, and the first use ends
-- all.
create table setup_link (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index setup_link_end on setup_link (expires_at);

-- Invitations to register an account. Each registration by one adds to `use_count`.
create table invitation (
  invitation_id uuid primary key,
  token_sha256 bytea not null check (length(token_sha256) = 32),
  kind text not null check (kind in ('link', 'mail')),
  email text,
  -- Suggested names. A username is not reserved by them.
  handle text,
  display_name text,
  group_ids uuid[] not null,
  language text not null,
  message text,
  max_uses integer not null,
  use_count integer not null default 0,
  created_at timestamptz not null,
  -- When the present link was issued. Mailing the invitation again extends it by its lifetime from then.
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  mailed_at timestamptz,
  -- When its mail is attempted next, if it is mailed in the background, and how often that was attempted.
  mail_at timestamptz,
  mail_attempts integer not null default 0,
  -- The operator by whose rights it counts, null for ADMIN_TOKEN, and the admin token that created it.
  created_by uuid,
  admin_token_id uuid,
  -- The invited identity that it is for. Its names are not suggestions.
  identity_id uuid,
  check (identity_id is null or max_uses = 1),
  check ((kind = 'mail') = (email is not null)),
  check (use_count between 0 and max_uses),
  check (kind = 'link' or max_uses = 1)
);
create unique index invitation_by_hash on invitation (token_sha256);
create index invitation_end on invitation (expires_at);
create index invitation_by_address on invitation (lower(email));
create index invitation_pending on invitation (expires_at) where use_count < max_uses;
create index invitation_address on invitation (lower(email));
create index invitation_mail on invitation (mail_at);
create unique index invitation_of_identity on invitation (identity_id) where identity_id is not null;

-- Identities that operators have added and that no one has accepted. No account has them. Their usernames are in
-- `identity_handle` and their words in `identity_term`. Acceptance moves them into `identity`, with the same ID.
create table invited_identity (
  identity_id uuid primary key,
  handle text not null,
  display_name text not null,
  email text,
  group_ids uuid[] not null,
  created_at timestamptz not null,
  -- As of an identity. No one can accept it while its source has deactivated it.
  managed_by text check (managed_by like 'scim:%'),
  active boolean not null default true
);
-- The orders in which the operator lists them.
create index invited_identity_by_creation on invited_identity (created_at, identity_id);
create index invited_identity_by_handle on invited_identity (lower(handle) collate "C", identity_id);
create index invited_identity_of_group on invited_identity using gin (group_ids) with (fastupdate = off);

-- Events of identities and groups, each for one app that the identity is connected to, or without an app for the
-- webhooks of the service. Once its time has come, an event becomes a delivery to each of them. `data` is JSON that the
-- database does not read. The app may have been deleted.
create table app_event (
  event_id uuid not null,
  client_id text,
  type text not null,
  data text not null,
  happened_at timestamptz not null,
  -- One index: an act can record many events.
  primary key (happened_at, event_id)
);

-- Tokens by which directories provision users and groups (SCIM). Each is a source: `scim:` and its ID.
create table scim_token (
  token_id uuid primary key,
  name text not null,
  token_sha256 bytea not null check (length(token_sha256) = 32),
  created_at timestamptz not null,
  -- When the present secret was issued. A rotation extends the token by its lifetime from then.
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  -- To the hour.
  last_used_at timestamptz,
  -- The operator by whose rights the token acts. Null for ADMIN_TOKEN.
  created_by uuid,
  -- A cleanup task releases what a deleted token manages, and then deletes its row.
  deleted_at timestamptz
);
create unique index scim_token_by_hash on scim_token (token_sha256);

-- Users of SCIM tokens, as their directories have sent them. The identity has the same ID, and may be invited.
create table scim_user (
  identity_id uuid primary key,
  token_id uuid not null,
  user_name text not null,
  -- `userName` in lower case.
  user_name_key text collate "C" not null,
  external_id text collate "C",
  display_name text,
  formatted_name text,
  given_name text,
  family_name text,
  -- JSON list of addresses, and the addresses in lower case.
  emails jsonb not null,
  email_keys text[] not null,
  -- What the directory has sent. Another source may have suspended the identity.
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index scim_user_by_name on scim_user (token_id, user_name_key);
create index scim_user_by_external_id on scim_user (token_id, external_id);
create index scim_user_by_id on scim_user (token_id, identity_id);
create index scim_user_by_creation on scim_user (token_id, created_at, identity_id);
create index scim_user_by_update on scim_user (token_id, updated_at, identity_id);
create index scim_user_by_address on scim_user using gin (email_keys) with (fastupdate = off);

-- Groups of SCIM tokens.
create table scim_group (
  group_id uuid primary key references user_group on delete cascade,
  token_id uuid not null,
  external_id text,
  created_at timestamptz not null,
  -- When the directory has last changed the group or its members.
  updated_at timestamptz not null
);
create index scim_group_of_token on scim_group (token_id, group_id);
