-- Whether what a member may do goes back to a directory alone: it named them, or somebody whom it named let them in.
alter table organization_member add column named_by_directory boolean not null default false;
-- Of before only this much is known: their directory has named them as what they are.
update organization_member set named_by_directory = true
where role = 'admin' and exists (
  select from sso_link join sso_provisioned_person using (connection_id, subject)
  where sso_link.organization_id = organization_member.organization_id
    and sso_link.member_id = organization_member.member_id and sso_provisioned_person.role = 'admin'
);
