-- Whether the directory calls the address that is kept the primary one; it reads back what it has sent.
alter table sso_provisioned_person add column email_is_primary boolean not null default true;
