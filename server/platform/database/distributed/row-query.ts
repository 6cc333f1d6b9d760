import { sql, type RawBuilder } from 'kysely'

/**
 * Returns a new row as columns and a query of their values, which may be queries themselves. A distributed database
 * takes none in a list of values. Columns without a value are left out.
 */
export function rowQuery<Row extends object>(row: Row): { columns: (keyof Row)[]; query: RawBuilder<unknown> } {
  const columns = Object.keys(row).filter((column): column is keyof Row & string => isGiven(row, column))
  return { columns, query: sql`select ${sql.join(columns.map((column) => sql`${row[column]}`))}` }
}

function isGiven<Row extends object>(row: Row, column: string): column is keyof Row & string {
  return Reflect.get(row, column) !== undefined
}
