-- That a directory of the organization says by SCIM who may come by a connection, for which alone its token is.
create table sso_provisioning (
  connection_id uuid primary key references sso_connection on delete cascade,
  organization_id uuid not null,
  -- What of a person is what the provider calls them: its subject, or an address that it has verified.
  subject_by text not null check (subject_by in ('externalId', 'email')),
  token_sha256 bytea not null,
  token_created_at timestamptz not null,
  people_count integer not null default 0 check (people_count >= 0)
);

-- Somebody whom the directory has named. It is no account, and nobody here by itself.
create table sso_provisioned_person (
  connection_id uuid not null references sso_provisioning on delete cascade,
  person_id uuid not null,
  user_name text not null,
  external_id text,
  display_name text,
  given_name text,
  family_name text,
  email text,
  active boolean not null,
  -- As what they join; null where the directory does not say.
  role text check (role in ('admin', 'signer', 'member', 'viewer')),
  -- Two user names are the same in whichever case they are written.
  user_name_key text not null,
  -- What the provider calls them, until it has named them; and from then on the subject that it named.
  subject_key text not null,
  subject text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (connection_id, person_id),
  unique (connection_id, user_name_key),
  unique (connection_id, subject_key),
  unique (connection_id, subject)
);
create index sso_provisioned_person_by_external_id on sso_provisioned_person (connection_id, external_id);

-- The verified address with which a subject came last, in lower case.
alter table sso_link add column email_key text;
create index sso_link_by_email on sso_link (connection_id, email_key);
