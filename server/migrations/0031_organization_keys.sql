-- The keys of an organization: one in force, and those before it, which open what was encrypted with them. Who keeps a
-- key says its custody: sealed by our keyring, or by the organization's own KMS; of one that members grant each other
-- the server has nothing but those grants. The fingerprint tells keys apart, and opens nothing.
create table organization_key (
  organization_id uuid not null references organization on delete cascade,
  key_id uuid not null,
  version integer not null check (version >= 1),
  custody text not null check (custody in ('svc_standard', 'customer_kms', 'identity_grants')),
  sealed_key text,
  fingerprint text not null,
  created_at timestamptz not null,
  -- Since when another key should take its place: somebody who may have it has left, or the mode is another one.
  rotation_due_at timestamptz,
  ended_at timestamptz,
  primary key (organization_id, key_id),
  unique (organization_id, version),
  unique (organization_id, fingerprint),
  check ((sealed_key is null) = (custody = 'identity_grants'))
);
create unique index organization_key_in_force on organization_key (organization_id) where ended_at is null;

-- A key, wrapped to the encryption key of a member. It goes with the member.
create table organization_key_grant (
  organization_id uuid not null,
  key_id uuid not null,
  member_id uuid not null,
  ciphertext text not null,
  granted_at timestamptz not null,
  primary key (organization_id, key_id, member_id),
  foreign key (organization_id, key_id) references organization_key on delete cascade,
  foreign key (organization_id, member_id) references organization_member on delete cascade
);
create index organization_key_grant_of_member on organization_key_grant (organization_id, member_id);

-- The KMS of an organization that keeps its keys itself.
create table organization_kms (
  organization_id uuid primary key references organization on delete cascade,
  url text not null,
  -- When it last opened what it had sealed.
  checked_at timestamptz not null
);
