import type { Node } from 'libpg-query'
import type { Equalities } from './equalities.ts'
import { namesOf } from './syntax.ts'

/** Where the rows of a table are: in shards by a column, complete on every node, or on the coordinator alone. */
export type Placement = { by: string } | 'every node' | 'coordinator'
export type Schema = Map<string, { columns: string[]; placement: Placement }>

/** Why a statement does not stay with the shards of keys that it is given: of which table, in words. */
export type Stray = {
  table: string
  problem: string
  /** Columns by which the rows are found instead. Undefined if the statement is wrong however they are found. */
  by?: string[]
  /** Tables with a column that equals one of the rows: other rows of the statement name them. */
  of?: string[]
}

/** Names of output columns, with their values as far as they are known. */
export type Columns = Map<string, string | undefined>
export type Part = { alias: string; columns: Columns }
export type Scope = { parts: Part[]; named: Map<string, Columns>; outer: Scope | undefined }

export function resolve(names: string[], scope: Scope | undefined): string | undefined {
  const [column = '', alias] = names.toReversed()
  for (let at = scope; at; at = at.outer) {
    const part = at.parts.find((each) => (alias === undefined ? each.columns.has(column) : each.alias === alias))
    if (part) return part.columns.get(column)
  }
  return undefined
}

export function columnIn(parts: Part[], name: string): string | undefined {
  return parts.find(({ columns }) => columns.has(name))?.columns.get(name)
}

export function renamed(columns: Columns, names: Node[] | undefined): Columns {
  const given = namesOf(names ?? [])
  return new Map([...columns].map(([name, value], place) => [given[place] ?? name, value]))
}

/** Rows of a sharded table that a statement reads or changes. */
export type Access = { table: string; key: string; equalities: Equalities; part: string }

export function keyOf({ part, key }: Access): string {
  return `${part}.${key}`
}

export function knownKey(access: Access): 'no' | 'listed' | 'given' {
  return access.equalities.knownOf(keyOf(access))
}
