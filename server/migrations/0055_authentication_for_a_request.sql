-- The authorization request for which the latest passkey assertion was made, as the SHA-256 of its reference: of the
-- ceremony under way, and of the session that it proved. Null where the assertion was for no request.
alter table passkey_flow add column request_sha256 bytea check (length(request_sha256) = 32);
alter table session add column proved_request_sha256 bytea check (length(proved_request_sha256) = 32);

-- What a request that came by /connect asks at the resource of another app. Null for a request that came by /signin.
alter table oauth_pushed_request add column connector text;

-- The scopes that the app requested, where it was granted fewer; null where they are those of `scope`.
alter table token_lineage add column requested_scope text[];
-- Whether the request had `max_age`, so that the ID token has `auth_time`; whether it had `prompt=login`, and so was
-- answered with an assertion made for it.
alter table token_lineage add column auth_time_requested boolean not null default false;
alter table token_lineage add column login_prompted boolean not null default false;
