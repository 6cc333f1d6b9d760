import { sql } from 'kysely'
import type { Keyring } from '#platform/crypto/keyring.ts'

/**
 * Checks that a column is not sealed under the current root key. So maintenance, which renews such texts, gets no rows
 * while there are none.
 */
export function isSealedOtherwise(column: 'sealed_key' | 'sealed_secret', { sealedBeginning }: Keyring) {
  return sql<boolean>`left(${sql.ref(column)}, ${sql.lit(sealedBeginning.length)}) <> ${sealedBeginning}`
}
