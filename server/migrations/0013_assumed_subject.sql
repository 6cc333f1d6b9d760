-- Whether the subject was only found by the address of a login before, and the user has not signed in with it since.
alter table sso_scim_user add column subject_is_assumed boolean not null default false;
