import { tokenPrefix } from '#platform/crypto/token-format.ts'

/** A table of the database, and its columns. */
export type Table = { name: string; columns: string[] }

/** The columns that name a row of another table, whichever table they stand in. */
const references: Record<string, { table: string; except: string[] }> = {
  // The trail outlives whom it tells of, and a registration reserves its ids before there is anybody.
  user_id: { table: 'person', except: ['audit_entry', 'passkey_flow'] },
  // A public key stays with the identity that had it, also when that is gone, and so does what it signed for others.
  identity_id: {
    table: 'identity',
    except: [
      ...['audit_entry', 'passkey_flow', 'signing_key_owner', 'signing_organization_answer', 'delegation_use'],
      ...['delegation_former_identity', 'signing_former_request'],
    ],
  },
  // Tokens for an organization end with it, and are remembered a while. What its provider said is taken back. What it
  // has signed stays, for those who rely on it, and its slug is kept from others for a while.
  organization_id: {
    table: 'organization',
    except: [
      ...['audit_entry', 'token_lineage', 'session', 'session_enterprise_sso', 'session_without_sso'],
      ...['signing_organization_request', 'signing_organization_place', 'signing_organization_answer'],
      ...['signing_signature_use', 'organization_slug'],
    ],
  },
  // What an app left behind when it was deleted ends by itself: without the app nobody can present it.
  client_id: {
    table: 'app',
    except: [
      ...['audit_entry', 'token_lineage', 'authorization_consent', 'oauth_pushed_request'],
      ...['signing_request', 'signing_request_place', 'signing_request_record', 'signing_former_request'],
      ...['signing_organization_request', 'signing_organization_place', 'signing_signature_use'],
    ],
  },
}

/** Rules for every table that has such a column: a new one is looked at without being named here. */
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
 * No token, code or secret stands anywhere in clear. It is long, so that a test may write its prefix; one of nothing
 * but `A` was made up, and a test may say that its passkey is called so.
 */
export function textsIn(tables: Table[]): Record<string, string> {
  const prefix = `(${Object.values(tokenPrefix).join('|')})`
  const token = `((^|[^A-Za-z0-9_-])(?!${prefix}A{40})${prefix}[A-Za-z0-9_-]{40}|whsec_[A-Za-z0-9+/]{40})`
  return Object.fromEntries(
    tables.map(({ name }) => [
      `${name} holds no token in clear`,
      `select left(whole.text, 200) as row
       from (select ${name}::text as text from ${name}) whole where whole.text ~ '${token}'`,
    ]),
  )
}
