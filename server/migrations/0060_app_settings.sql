-- What an app registers about its ID tokens (OpenID Connect Registration §2), the claims that it can't do without, how
-- far its tokens reach into the organizations of a user, where it hears of logouts (OpenID Connect Back-Channel Logout
-- §2.2), and whether a registered loopback redirect URI stands for every port (RFC 8252 §7.3).
alter table app add column require_auth_time boolean not null default false;
alter table app add column id_token_claims boolean not null default true;
alter table app add column required_claims text[] not null default '{}';
alter table app add column organization_access text not null default 'create'
  check (organization_access in ('none', 'read', 'create'));
alter table app add column backchannel_logout_uri text;
alter table app add column backchannel_logout_session_required boolean not null default false;
alter table app add column allow_any_loopback_port boolean not null default false;

-- What the user chose on the consent page; null where they were never asked. Authorizations of before count as
-- `create`.
alter table authorization_consent add column organization_access text default 'create'
  check (organization_access in ('none', 'read', 'create'));
