-- Where an app may have people sent who have signed out because it asked (OpenID Connect RP-Initiated Logout §3).
alter table app add column post_logout_redirect_uris text[] not null default '{}';
