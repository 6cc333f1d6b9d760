import { tokenPrefix } from '#platform/crypto/token-format.ts'

/** Table of the database with its columns. */
export type Table = { name: string; columns: string[] }

/** Columns that reference a row of another table, in any table. */
const references: Record<string, { table: string; except: string[] }> = {
  // The audit log outlives its users, and a registration reserves its IDs before the user exists.
  user_id: { table: 'user_account', except: ['audit_event', 'passkey_flow'] },
  // A public key stays bound to its identity, also after the deletion, and so do its signatures for others. Rows of
  // invited identities have rules of their own.
  identity_id: {
    table: 'identity',
    except: [
      ...['audit_event', 'passkey_flow', 'signing_key_owner', 'signing_organization_signature', 'delegation_usage'],
      ...['delegation_former_identity', 'signing_former_request', 'signing_expired_former_request'],
      ...['invited_identity', 'invitation', 'identity_handle', 'identity_term', 'scim_user'],
    ],
  },
  // Tokens for an organization and sessions end with it, many of them later, and tokens are kept for a while, like its
  // groups until their members are gone. Its signatures stay for those who rely on them, its slug stays
  // reserved for a while, and its trail stays with the audit log.
  organization_id: {
    table: 'organization',
    except: [
      ...['audit_event', 'token_family', 'session', 'session_sso_authentication', 'session_sso_bypass'],
      ...['signing_organization_request', 'signing_organization_request_route', 'signing_organization_signature'],
      ...['signing_signature_use', 'organization_slug', 'user_group', 'organization_ending', 'sso_connection_ending'],
      ...['organization_trail', 'organization_trail_head', 'organization_trail_pending', 'organization_act_signature'],
    ],
  },
  // What a deleted app left behind expires by itself, or is deleted by the cleanup after a while: without the app no
  // client can present it. An event that is delayed is dropped when it is due.
  client_id: {
    table: 'app',
    except: [
      ...['audit_event', 'token_family', 'authorization_consent', 'oauth_pushed_request'],
      ...['authorization_app_key', 'authorization_app_public_key', 'app_ending', 'app_event'],
      ...['signing_request', 'signing_request_route', 'signing_request_record'],
      ...['signing_former_request', 'signing_expired_former_request'],
      ...['signing_organization_request', 'signing_organization_request_route', 'signing_signature_use'],
    ],
  },
}

/** Rules for every table with such a column: a new one is checked without being named here. */
export function referencesIn(tables: Table[]): Record<string, string> {
  const found = tables.flatMap(({ name, columns }) =>
    columns.flatMap((column) => {
      const reference = references[column]
      if (!reference || reference.table === name || reference.except.includes(name)) return []
      const query = `
        select ${name}.${column} from ${name} left join ${reference.table} using (${column})
        where ${name}.${column} is not null and ${reference.table}.${column} is null`
      return [[`each ${column} of ${name} is in ${reference.table}`, query]]
    }),
  )
  return Object.fromEntries(found)
}

/**
 * No token, code or secret is stored in clear. The pattern requires almost the length of the shortest token, so that a
 * test may write a prefix, and a random value of 256 bits may begin like one. Values of only `A` are made up, and a
 * test may use one as the name of a passkey.
 */
export function textsIn(tables: Table[]): Record<string, string> {
  const prefix = `(${Object.values(tokenPrefix).join('|')})`
  const token = `((^|[^A-Za-z0-9_-])(?!${prefix}A{40})${prefix}[A-Za-z0-9_-]{46}|whsec_[A-Za-z0-9+/]{40})`
  return Object.fromEntries(
    tables.map(({ name }) => [
      `${name} holds no token in clear`,
      `select left(whole.text, 200) as row
       from (select ${name}::text as text from ${name}) whole where whole.text ~ '${token}'`,
    ]),
  )
}
