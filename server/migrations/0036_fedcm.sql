-- The token under which a browser knows a session when it mediates a sign-in itself (FedCM). Null for the session of an
-- organization's sign-in alone, which is no sign-in to apps, and for sessions of before.
alter table session add column fedcm_sha256 bytea check (length(fedcm_sha256) = 32);

-- A sign-in that the browser mediates, and that the person finishes in a window. `request` is what the app asked for.
create table fedcm_continuation (
  reference_sha256 bytea primary key,
  user_id uuid not null,
  session_id uuid not null,
  client_id text not null,
  origin text not null,
  request text not null,
  expires_at timestamptz not null
);
create index fedcm_continuation_due on fedcm_continuation (expires_at);
create index fedcm_continuation_of_user on fedcm_continuation (user_id);
