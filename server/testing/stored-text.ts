import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'

/** Lists the tables in which a text occurs, in any encoding. */
export async function tablesWith(db: Database, text: string): Promise<string[]> {
  const found: string[] = []
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql`
      select from ${sql.table(name)} whole where position(${text.toLowerCase()} in lower(whole::text)) > 0 limit 1
    `.execute(db)
    if (rows.length > 0) found.push(name)
  }
  return found.toSorted()
}
