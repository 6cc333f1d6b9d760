-- An organization; apps know it as a workspace. Its row counts the owners, so that the last one cannot leave. The last
-- owner of a suspended organization may delete their account, because they cannot name another. It becomes active again
-- only with an owner.
create table organization (
  organization_id uuid primary key,
  name text not null,
  slug text not null,
  logo_url text,
  status text not null default 'active' check (status in ('active', 'suspended')),
  encryption_mode text not null default 'standard'
    check (encryption_mode in ('standard', 'enterprise_managed', 'e2ee')),
  -- The SSO connection in use: tested and enabled. Null while there is none.
  sso_connection_id uuid,
  -- The ID of the next SSO connection: the URLs in it can be registered at the provider first.
  next_sso_connection_id uuid not null default gen_random_uuid(),
  sso_required boolean not null default false,
  require_signed_actions boolean not null default false,
  owner_count integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- How many members must approve, in addition to the signer, before the organization has signed.
  approvals_needed integer not null default 0 check (approvals_needed between 0 and 20),
  check ((not sso_required) or (sso_connection_id is not null)),
  check ((owner_count >= 1) or ((owner_count = 0) and (status = 'suspended')))
);

alter table configuration_object add foreign key (organization_id) references organization on delete cascade;

-- URL names. A slug belongs to one organization across all shards.
create table organization_slug (
  slug text primary key,
  organization_id uuid not null,
  -- Until when a released slug is reserved; null while the organization has it.
  available_at timestamptz,
  -- The user who deleted the organization that had the slug; otherwise null.
  former_owner_id uuid,
  -- Whether the key of a group contains it. Then no other organization ever gets it: apps know the key.
  in_group_key boolean not null default false
);
create index organization_slug_free on organization_slug (available_at);
create index organization_slug_of_former_owner on organization_slug (former_owner_id, available_at);
-- Finds the rows to delete with an account, an organization or a connection, however many others there are.
create index organization_slug_of_organization on organization_slug (organization_id);

-- An identity in an organization. The role set the initial permissions; an owner may change them.
create table organization_member (
  organization_id uuid not null references organization on delete cascade,
  member_id uuid not null,
  identity_id uuid not null,
  role text not null check (role in ('owner', 'admin', 'signer', 'member', 'viewer')),
  scopes text[] not null,
  signing_authority boolean not null,
  joined_at timestamptz not null,
  -- Whether the permissions of the member derive from a directory alone: it granted them, or a member with such
  -- permissions did.
  named_by_directory boolean not null default false,
  -- The address to which the member was invited: the organization knows it, whatever the identity's address is.
  invited_email text,
  unique (organization_id, identity_id),
  primary key (organization_id, member_id)
);
create index organization_member_of_identity on organization_member (identity_id);

-- An offer to join, by username or email address. Its tokens can be used once: the inviting member sees the first one.
-- The second one is only in the mail to the address, so that it proves control of the address.
create table organization_invitation (
  organization_id uuid not null references organization on delete cascade,
  invitation_id uuid not null,
  token_sha256 bytea not null,
  mail_token_sha256 bytea,
  mailed_at timestamptz,
  identity_id uuid,
  email text,
  role text not null check (role in ('owner', 'admin', 'signer', 'member', 'viewer')),
  invited_by uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  primary key (organization_id, invitation_id),
  check ((identity_id is null) <> (email is null)),
  check (mail_token_sha256 is null or email is not null)
);
create index organization_invitation_of_email on organization_invitation (email);
create index organization_invitation_by_end on organization_invitation (expires_at);
create index organization_invitation_of_identity on organization_invitation (identity_id) where identity_id is not null;

-- A domain that an organization wants to verify, and the TXT value that proves control of it. Several organizations may
-- add the same domain.
create table organization_domain (
  organization_id uuid not null references organization on delete cascade,
  domain_id uuid not null,
  domain text not null,
  txt_value text not null,
  created_at timestamptz not null,
  verified_at timestamptz,
  -- When DNS last responded, with whatever result, and when it last had the value.
  last_checked_at timestamptz,
  last_verified_at timestamptz,
  -- Since when verification fails, and when the owners were notified.
  failing_since timestamptz,
  notified_at timestamptz,
  unique (organization_id, domain),
  primary key (organization_id, domain_id),
  check ((verified_at is null) = (last_verified_at is null)),
  check (failing_since is null or verified_at is not null),
  check (notified_at is null or failing_since is not null)
);

-- Verified domains. A domain belongs to one organization across all shards.
create table organization_verified_domain (
  domain text primary key,
  organization_id uuid not null,
  domain_id uuid not null,
  next_check_at timestamptz not null
);
create index organization_verified_domain_by_check on organization_verified_domain (next_check_at);
create index organization_verified_domain_of_organization on organization_verified_domain (organization_id);

-- The keys of an organization: the active one, and the retired ones, which decrypt older data. `custody` says who
-- stores a key: encrypted by our keyring, by the KMS of the organization, or only as wraps of its members. The
-- fingerprint identifies a key and decrypts nothing.
create table organization_key (
  organization_id uuid not null references organization on delete cascade,
  key_id uuid not null,
  version integer not null check (version >= 1),
  custody text not null check (custody in ('svc_standard', 'customer_kms', 'identity_grants')),
  sealed_key text,
  fingerprint text not null,
  created_at timestamptz not null,
  -- Since when the key should be rotated, because a member who had it left or the encryption mode changed.
  rotation_due_at timestamptz,
  retired_at timestamptz,
  unique (organization_id, version),
  unique (organization_id, fingerprint),
  primary key (organization_id, key_id),
  check ((sealed_key is null) = (custody = 'identity_grants'))
);
create unique index organization_key_in_force on organization_key (organization_id) where retired_at is null;

-- An organization key, wrapped to the encryption key of a member. It is deleted with the member.
create table organization_key_wrap (
  organization_id uuid not null,
  key_id uuid not null,
  member_id uuid not null,
  ciphertext text not null,
  granted_at timestamptz not null,
  primary key (organization_id, key_id, member_id),
  foreign key (organization_id, key_id) references organization_key on delete cascade,
  foreign key (organization_id, member_id) references organization_member on delete cascade
);
create index organization_key_wrap_of_member on organization_key_wrap (organization_id, member_id);

-- The KMS of an organization that stores its keys itself.
create table organization_kms (
  organization_id uuid primary key references organization on delete cascade,
  url text not null,
  -- When it last decrypted what it had encrypted.
  checked_at timestamptz not null
);

-- An owner confirmed the current configuration of a connection. Only a confirmed connection satisfies required SSO.
create table organization_sso_confirmation (
  organization_id uuid not null references organization on delete cascade,
  connection_id uuid not null,
  -- Null for connections that were in use before confirmations existed.
  identity_id uuid,
  confirmed_at timestamptz not null,
  primary key (organization_id, connection_id)
);

-- An act that a member has started in a session. It is done once it is signed, by the request as it was started.
create table organization_act (
  organization_id uuid not null references organization on delete cascade,
  act_id uuid not null,
  session_id uuid not null,
  identity_id uuid not null,
  -- Name of the endpoint, and its request, encrypted: it can contain secrets.
  endpoint text not null,
  sealed_request text not null,
  action text not null,
  -- Canonical JSON without secrets, and the salt of its digest in the statement.
  details text not null,
  salt bytea not null,
  statement text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The proposal that it approves or carries out, and how many approvals it needs of others.
  proposal_id uuid,
  approvals_needed integer not null default 0,
  primary key (organization_id, act_id)
);
create index organization_act_of_session on organization_act (session_id, created_at);
create index organization_act_of_identity on organization_act (identity_id);
create index organization_act_by_end on organization_act (expires_at);

-- The council of an organization: while `approvals_needed` is above 0, these members alone sign and approve, with the
-- permissions that were admitted, as far as they still have them. One identity of a user. Suspended members sign and
-- approve nothing, but can veto a reset; a signatory may also have left the organization.
create table organization_signatory (
  organization_id uuid not null references organization on delete cascade,
  identity_id uuid not null,
  user_id uuid not null,
  may_sign boolean not null,
  may_approve boolean not null,
  admitted_at timestamptz not null,
  suspended_at timestamptz,
  unique (organization_id, user_id),
  primary key (organization_id, identity_id),
  check (may_sign or may_approve)
);
create index organization_signatory_of_identity on organization_signatory (identity_id);

-- Request of an owner to end the council without its consent, and when that was last done.
create table organization_council_reset (
  organization_id uuid primary key references organization on delete cascade,
  requested_at timestamptz,
  reset_at timestamptz,
  check (requested_at is not null or reset_at is not null)
);

-- An act that a member has proposed and that others approve, each by a signature over the digest of `statement`. Once
-- enough have, the same member signs and does it by the request as it was started.
create table organization_proposal (
  organization_id uuid not null references organization on delete cascade,
  proposal_id uuid not null,
  identity_id uuid not null,
  -- As in `organization_act`.
  endpoint text not null,
  sealed_request text not null,
  action text not null,
  details text not null,
  salt bytea not null,
  statement text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, proposal_id)
);
create index organization_proposal_of_identity on organization_proposal (identity_id);
create index organization_proposal_by_end on organization_proposal (expires_at);

create table organization_proposal_approval (
  organization_id uuid not null,
  proposal_id uuid not null,
  identity_id uuid not null,
  key_version integer not null,
  statement text not null,
  presence bytea not null check (length(presence) = 32),
  signature bytea not null check (length(signature) = 64),
  approved_at timestamptz not null,
  primary key (organization_id, proposal_id, identity_id),
  foreign key (organization_id, proposal_id) references organization_proposal on delete cascade
);
create index organization_proposal_approval_of_identity on organization_proposal_approval (identity_id);
