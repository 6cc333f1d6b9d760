/** Queries that find rows of endings which must not exist. */
export const invariantsOfEndings: Record<string, string> = {
  'an organization of which tokens or memberships still end is not active': `
    select organization_id from organization_ending join organization using (organization_id) where status = 'active'
    union all
    select organization_id from group_ending join user_group using (group_id) join organization using (organization_id)
    where source = 'upstream' and status = 'active'`,
  'a connection of which sessions still end is not enabled': `
    select connection_id from sso_connection_ending join sso_connection using (connection_id) where enabled`,
  'memberships end in batches only in groups of organizations': `
    select group_id from group_ending join user_group using (group_id) where organization_id is null`,
}
