-- A domain that an organization claims, and the text that proves it where the DNS has it. Many may claim one.
create table organization_domain (
  organization_id uuid not null references organization on delete cascade,
  domain_id uuid not null,
  domain text not null,
  challenge text not null,
  created_at timestamptz not null,
  verified_at timestamptz,
  -- When the DNS answered last, whatever it said, and when it last had the text.
  checked_at timestamptz,
  proved_at timestamptz,
  -- Since when the proof is gone, and when the owners were told.
  failing_since timestamptz,
  told_at timestamptz,
  primary key (organization_id, domain_id),
  unique (organization_id, domain),
  check ((verified_at is null) = (proved_at is null)),
  check (failing_since is null or verified_at is not null),
  check (told_at is null or failing_since is not null)
);

-- Whose a verified domain is: one organization's in all shards. And when it is to be looked at again.
create table organization_verified_domain (
  domain text primary key,
  organization_id uuid not null,
  domain_id uuid not null,
  check_due_at timestamptz not null
);
create index organization_verified_domain_of_organization on organization_verified_domain (organization_id);
create index organization_verified_domain_by_check on organization_verified_domain (check_due_at);
