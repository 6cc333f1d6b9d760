-- What is noted of a session goes when it has stopped to count, whatever has become of the session: a foreign key would
-- look for it once for each session that ends, which for all those of a large organization takes longer than a
-- statement may.
alter table session_enterprise_sso drop constraint if exists session_enterprise_sso_session_id_fkey;
alter table session_without_sso drop constraint if exists session_without_sso_session_id_fkey;
create index session_enterprise_sso_by_age on session_enterprise_sso (authenticated_at);
create index session_without_sso_by_age on session_without_sso (noted_at);
