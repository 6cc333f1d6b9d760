import { keyOf, knownKey, type Access, type Schema, type Stray } from './scope.ts'

/** What a statement reads and changes, and what is wrong with it. */
export class Findings {
  readonly accesses: Access[] = []
  /** The parts of the statement that are tables. */
  readonly tables = new Map<string, string>()
  readonly #schema: Schema
  readonly #strays: Stray[] = []

  constructor(schema: Schema) {
    this.#schema = schema
  }

  /** Returns what is wrong, once the whole statement was read. */
  report(): Stray[] {
    const placements = [...this.tables.values()].map((table) => ({
      table,
      placement: this.#schema.get(table)?.placement,
    }))
    const sharded = placements.find(({ placement }) => typeof placement === 'object')
    const alone = placements.find(({ placement }) => placement === 'coordinator')
    if (sharded && alone) this.stray(alone.table, `is on the coordinator alone, and ${sharded.table} is in shards`)
    for (const access of this.accesses) {
      const { table, key } = access
      const known = knownKey(access)
      if (known === 'listed')
        this.stray(table, `has no condition ${key} = any($n) for the list that it is joined with`, { by: [], of: [] })
      if (known === 'no' && !this.#isWithOther(access))
        this.stray(table, `is not filtered by ${key}`, {
          by: this.#otherColumns(access),
          of: this.#tablesNaming(access),
        })
    }
    return this.#strays
  }

  /** Checks whether the rows are in the shards of others that are found by another column, which is reported there. */
  #isWithOther(access: Access): boolean {
    if (this.#otherColumns(access).length > 0) return false
    return this.accesses.some(
      (other) =>
        other !== access &&
        access.equalities.areEqual(keyOf(access), keyOf(other)) &&
        this.#otherColumns(other).length > 0,
    )
  }

  /** Returns the columns, other than the key, by which the rows are found. */
  #otherColumns({ table, part, equalities }: Access): string[] {
    return this.#columnsOf(table).filter((column) => equalities.knownOf(`${part}.${column}`) !== 'no')
  }

  /** Returns the tables with a column that equals one of these rows. */
  #tablesNaming({ table, part, equalities }: Access): string[] {
    const isNaming = ([id, other]: [string, string]) =>
      id !== part &&
      this.#columnsOf(table).some((own) =>
        this.#columnsOf(other).some((column) => equalities.areEqual(`${part}.${own}`, `${id}.${column}`)),
      )
    return [...new Set([...this.tables].filter(isNaming).map(([, other]) => other))]
  }

  #columnsOf(table: string): string[] {
    return this.#schema.get(table)?.columns ?? []
  }

  /** Adds what is wrong with another statement. */
  include(strays: Stray[]): void {
    this.#strays.push(...strays)
  }

  stray(table: string, problem: string, found?: { by: string[]; of: string[] }): void {
    const isKnown = (stray: Stray) =>
      stray.table === table && stray.problem === problem && stray.by?.join() === found?.by.join()
    if (!this.#strays.some(isKnown)) this.#strays.push({ table, problem, ...found })
  }
}
