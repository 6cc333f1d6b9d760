-- The browser in which a ceremony was begun, as the SHA-256 of the token in its cookie; null where a client of the API
-- began it, which keeps no cookies.
alter table passkey_flow add column browser_sha256 bytea check (length(browser_sha256) = 32);
