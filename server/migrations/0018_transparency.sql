-- The log of signing keys: an append-only tree (RFC 9162) of which this row is the head. Whoever appends holds it.
create table transparency_log (
  log smallint primary key check (log = 0),
  origin text not null,
  public_key bytea not null check (length(public_key) = 32),
  sealed_private_key text not null,
  created_at timestamptz not null,
  size integer not null check (size >= 0),
  root bytea not null check (length(root) = 32),
  checkpoint text not null
);

-- What became of a key. It has its place in the tree once leaf_index is there, and it waits for one from due_at on.
create table transparency_leaf (
  identity_sha256 bytea not null,
  key_version integer not null,
  event text not null check (event in ('created', 'rotated', 'removed')),
  leaf text not null,
  leaf_sha256 bytea not null,
  due_at timestamptz not null,
  leaf_index integer,
  primary key (identity_sha256, key_version, event)
);
create unique index transparency_leaf_index on transparency_leaf (leaf_index);
create unique index transparency_leaf_hash on transparency_leaf (leaf_sha256);
create index transparency_leaf_pending on transparency_leaf (due_at) where leaf_index is null;

-- The complete subtrees, each of 2^level leaves: they never change, and every proof is made of a few of them.
create table transparency_node (
  level smallint not null,
  node_index integer not null,
  hash bytea not null check (length(hash) = 32),
  primary key (level, node_index)
);

-- Which keys have their leaves: those of before the log get them in pieces.
alter table signing_key add column in_log boolean not null default false;
create index signing_key_not_in_log on signing_key (identity_id) where not in_log;
