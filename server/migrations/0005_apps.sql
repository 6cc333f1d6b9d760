-- Registered apps. Small, and read through a cache.
create table app (
  client_id text primary key,
  name text not null,
  description text,
  icon_url text,
  website_url text,
  privacy_url text,
  terms_url text,
  redirect_uris text[] not null,
  allowed_scopes text[] not null,
  is_public boolean not null,
  id_token_algorithm text not null check (id_token_algorithm in ('RS256', 'ES256', 'EdDSA')),
  access_token_seconds integer not null,
  refresh_token_seconds integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table app_secret (
  client_id text not null references app on delete cascade,
  secret_sha256 bytea not null,
  created_at timestamptz not null,
  primary key (client_id, secret_sha256)
);

-- The origins of the redirect URIs, the origin first: whether any app has a given one is a question of its own.
create table app_origin (
  origin text not null,
  client_id text not null references app on delete cascade,
  primary key (origin, client_id)
);
create index app_origin_of_app on app_origin (client_id);
