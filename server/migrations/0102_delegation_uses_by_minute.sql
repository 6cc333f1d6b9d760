-- One row for each delegation and minute, with all scopes for which tokens were taken then. A row for each set of
-- scopes let an app add as many rows in a minute as its scopes have subsets. Rows of a deleted identity are swept in
-- batches, so no foreign key may delete them all in one statement.
create table delegation_use_by_minute (
  identity_id uuid not null,
  delegation_id uuid not null,
  used_at timestamptz not null,
  scope text[] not null,
  count integer not null,
  primary key (identity_id, delegation_id, used_at)
);

insert into delegation_use_by_minute (identity_id, delegation_id, used_at, scope, count)
select identity_id, delegation_id, used_at, array_agg(distinct each order by each),
  -- Each row came apart into its scopes: it counts at its first one alone.
  least(sum(count) filter (where nth = 1), 2147483647)::integer
from delegation_use, unnest(string_to_array(scope, ' ')) with ordinality as scopes (each, nth)
group by identity_id, delegation_id, used_at;

drop table delegation_use;
alter table delegation_use_by_minute rename to delegation_use;
alter index delegation_use_by_minute_pkey rename to delegation_use_pkey;
create index delegation_use_by_age on delegation_use (used_at);

-- Deleted identities that had delegations: what is left of their uses is swept.
create table delegation_former_identity (
  identity_id uuid primary key
);
