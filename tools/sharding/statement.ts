import { loadModule, parseSync, type Node, type RangeVar, type SelectStmt, type WithClause } from 'libpg-query'
import { Equalities } from './equalities.ts'
import { Findings } from './findings.ts'
import { columnIn, renamed, resolve, type Columns, type Part, type Schema, type Scope, type Stray } from './scope.ts'
import {
  addsIntervalToColumn,
  contains,
  isConstant,
  isEquality,
  isNamed,
  isSubquery,
  itemsOf,
  namesOf,
  type A_Expr,
  type SubLink,
} from './syntax.ts'

await loadModule()

/** Returns what is wrong with a statement on a database with tables in these places. Throws if it cannot be parsed. */
export function findStrays(text: string, schema: Schema): Stray[] {
  return new Reader(schema).read(text)
}

class Reader {
  readonly #schema: Schema
  readonly #findings: Findings
  readonly #readFirst = new Set<string>()
  #parts = 0

  constructor(schema: Schema) {
    this.#schema = schema
    this.#findings = new Findings(schema)
  }

  read(text: string): Stray[] {
    for (const { stmt } of parseSync(text).stmts ?? [])
      if (stmt) this.#statement(stmt, { parts: [], named: new Map(), outer: undefined }, new Equalities())
    return this.#findings.report()
  }

  #statement(node: Node, outer: Scope, equalities: Equalities): Columns {
    if ('SelectStmt' in node) return this.#select(node.SelectStmt, outer, equalities)
    if ('UpdateStmt' in node) {
      const { relation, fromClause, whereClause, targetList = [], returningClause, withClause } = node.UpdateStmt
      const scope = this.#scope(withClause, outer, equalities)
      this.#table(relation, scope, equalities)
      for (const from of fromClause ?? []) this.#from(from, scope, equalities)
      this.#condition(whereClause, scope, equalities)
      this.#sublinks(targetList, scope, equalities)
      this.#assignments(relation?.relname ?? '', targetList)
      return this.#targets(returningClause?.exprs, scope, equalities)
    }
    if ('DeleteStmt' in node) {
      const { relation, usingClause, whereClause, returningClause, withClause } = node.DeleteStmt
      const scope = this.#scope(withClause, outer, equalities)
      this.#table(relation, scope, equalities)
      for (const from of usingClause ?? []) this.#from(from, scope, equalities)
      this.#condition(whereClause, scope, equalities)
      return this.#targets(returningClause?.exprs, scope, equalities)
    }
    if ('InsertStmt' in node) return this.#insert(node.InsertStmt, outer, equalities)
    return new Map()
  }

  #insert(
    { relation, cols, selectStmt, onConflictClause, returningClause, withClause }: InsertStmt,
    outer: Scope,
    equalities: Equalities,
  ): Columns {
    const scope = this.#scope(withClause, outer, equalities)
    const name = relation?.relname ?? ''
    const table = this.#schema.get(name)
    const source = selectStmt ? this.#statement(selectStmt, scope, equalities) : new Map<string, string | undefined>()
    const inserted = this.#table(relation, { ...scope, parts: [] }, equalities, false)
    const names = cols?.map((col) => ('ResTarget' in col && col.ResTarget.name) || '') ?? table?.columns ?? []
    if (table && typeof table.placement === 'object') {
      const place = names.indexOf(table.placement.by)
      const value = [...source.values()][place]
      if (place === -1 || equalities.knownOf(value) === 'no')
        this.#findings.stray(name, `gets rows whose ${table.placement.by} is not given`)
      equalities.equate(inserted.columns.get(table.placement.by), value)
      const values = selectStmt && 'SelectStmt' in selectStmt ? selectStmt.SelectStmt.valuesLists : undefined
      if (contains([values, onConflictClause], (node) => 'SubLink' in node))
        this.#findings.stray(name, 'has a subquery in its values, which Citus takes from `insert … select` alone')
    }
    const own: Scope = { ...scope, parts: [inserted, { ...inserted, alias: 'excluded' }] }
    this.#sublinks([selectStmt, ...(onConflictClause?.targetList ?? [])], own, equalities, true)
    this.#condition(onConflictClause?.whereClause, own, equalities)
    this.#assignments(name, onConflictClause?.targetList ?? [])
    return this.#targets(returningClause?.exprs, { ...scope, parts: [inserted] }, equalities)
  }

  /** A row stays in its shard, and what changes it gives the same on every node. */
  #assignments(name: string, targets: Node[]): void {
    const placement = this.#schema.get(name)?.placement
    if (typeof placement !== 'object') return
    for (const target of targets) {
      if (!('ResTarget' in target)) continue
      if (target.ResTarget.name === placement.by) this.#findings.stray(name, `changes ${placement.by}`)
      if (target.ResTarget.val && addsIntervalToColumn(target.ResTarget.val))
        this.#findings.stray(
          name,
          'adds an interval to a column without `at time zone`, which depends on the time zone',
        )
    }
  }

  #select(select: SelectStmt, outer: Scope, equalities: Equalities): Columns {
    const scope = this.#scope(select.withClause, outer, equalities)
    if (select.larg && select.rarg) {
      const arms = [select.larg, select.rarg].map((arm) => [...this.#select(arm, scope, equalities)])
      return this.#union(arms, equalities)
    }
    if (select.valuesLists) return this.#values(select.valuesLists, scope, equalities)
    for (const from of select.fromClause ?? []) this.#from(from, scope, equalities)
    this.#condition(select.whereClause, scope, equalities)
    this.#sublinks([select.targetList, select.havingClause, select.sortClause, select.limitCount], scope, equalities)
    return this.#targets(select.targetList, scope, equalities)
  }

  /** A column of a union is known as far as that of each of its parts. */
  #union(arms: [string, string | undefined][][], equalities: Equalities): Columns {
    const [first = []] = arms
    return new Map(
      first.map(([name], place) => {
        const value = this.#newValue(name)
        const known = arms.map((arm) => equalities.knownOf(arm[place]?.[1]))
        if (known.every((each) => each !== 'no')) equalities.list(value)
        return [name, value]
      }),
    )
  }

  #values(lists: Node[], scope: Scope, equalities: Equalities): Columns {
    const rows = lists.flatMap((list) => ('List' in list ? [list.List.items ?? []] : []))
    const arms = rows.map((row) =>
      row.map((item, place): [string, string | undefined] => [
        `column${place + 1}`,
        this.#value(item, scope, equalities),
      ]),
    )
    this.#sublinks(lists, scope, equalities)
    return arms.length === 1 ? new Map(arms[0]) : this.#union(arms, equalities)
  }

  /** Opens a scope, with the parts of a WITH clause, each under its name. */
  #scope(withClause: WithClause | undefined, outer: Scope, equalities: Equalities): Scope {
    const scope: Scope = { parts: [], named: new Map(outer.named), outer }
    for (const cte of withClause?.ctes ?? []) {
      if (!('CommonTableExpr' in cte)) continue
      const { ctename = '', ctequery, aliascolnames } = cte.CommonTableExpr
      const inner: Scope = { parts: [], named: scope.named, outer: undefined }
      const columns = ctequery ? this.#statement(ctequery, inner, equalities) : new Map<string, string | undefined>()
      scope.named.set(ctename, renamed(columns, aliascolnames))
    }
    return scope
  }

  #table(relation: RangeVar | undefined, scope: Scope, equalities: Equalities, isAccessed = true): Part {
    const { relname = '', alias } = relation ?? {}
    const named = scope.named.get(relname)
    const id = `${alias?.aliasname ?? relname}#${(this.#parts += 1)}`
    const table = named ? undefined : this.#schema.get(relname)
    const own = new Map((table?.columns ?? []).map((column) => [column, `${id}.${column}`]))
    const part = { alias: alias?.aliasname ?? relname, columns: named ? renamed(named, alias?.colnames) : own }
    scope.parts.push(part)
    if (!table) return part
    this.#findings.tables.set(id, relname)
    if (isAccessed && typeof table.placement === 'object')
      this.#findings.accesses.push({ table: relname, key: table.placement.by, part: id, equalities })
    return part
  }

  #from(node: Node, scope: Scope, equalities: Equalities): void {
    if ('RangeVar' in node) this.#table(node.RangeVar, scope, equalities)
    else if ('RangeSubselect' in node) {
      const { subquery, alias: { aliasname = '', colnames } = {} } = node.RangeSubselect
      const isFirst = aliasname === 'found_first'
      const columns =
        subquery && (isFirst ? this.#first(subquery, equalities) : this.#statement(subquery, scope, equalities))
      scope.parts.push({ alias: aliasname, columns: renamed(columns ?? new Map(), colnames) })
    } else if ('RangeFunction' in node) {
      const { alias } = node.RangeFunction
      const names = alias?.colnames ? namesOf(alias.colnames) : [alias?.aliasname ?? '']
      const columns = new Map(names.map((name) => [name, this.#newValue(name)]))
      for (const value of columns.values()) equalities.list(value)
      scope.parts.push({ alias: alias?.aliasname ?? '', columns })
    } else if ('JoinExpr' in node) {
      const { larg, rarg, quals, usingClause } = node.JoinExpr
      const before = scope.parts.length
      if (larg) this.#from(larg, scope, equalities)
      const between = scope.parts.length
      if (rarg) this.#from(rarg, scope, equalities)
      const [left, right] = [scope.parts.slice(before, between), scope.parts.slice(between)]
      for (const name of namesOf(usingClause ?? [])) equalities.equate(columnIn(left, name), columnIn(right, name))
      this.#condition(quals, scope, equalities)
    }
  }

  /** Reads what a distributed database executes first (`findKeys`): its results are a list for the statement. */
  #first(node: Node, equalities: Equalities): Columns {
    const own = new Reader(this.#schema)
    const columns = own.#statement(node, { parts: [], named: new Map(), outer: undefined }, new Equalities())
    this.#findings.include(own.#findings.report())
    const names = [...columns.keys()].map((name): [string, string] => [name, this.#newValue(name)])
    for (const [, value] of names) {
      equalities.list(value)
      this.#readFirst.add(value)
    }
    return new Map(names)
  }

  /** Notes what a condition that every row meets says about values. */
  #condition(node: Node | undefined, scope: Scope, equalities: Equalities): void {
    if (!node) return
    if ('BoolExpr' in node && node.BoolExpr.boolop === 'AND_EXPR')
      for (const each of node.BoolExpr.args ?? []) this.#condition(each, scope, equalities)
    else if ('BoolExpr' in node && node.BoolExpr.boolop === 'OR_EXPR')
      this.#choice(node.BoolExpr.args ?? [], scope, equalities)
    else if ('A_Expr' in node && isEquality(node.A_Expr)) this.#equality(node.A_Expr, scope, equalities)
    else if ('SubLink' in node) this.#sublink(node.SubLink, scope, equalities)
    else this.#sublinks([node], scope, equalities)
  }

  /** What all alternatives say holds. */
  #choice(args: Node[], scope: Scope, equalities: Equalities): void {
    const alternatives = args.map((each) => {
      const own = equalities.copy()
      this.#condition(each, scope, own)
      return own
    })
    for (const { columns } of scope.parts)
      for (const value of columns.values())
        if (alternatives.every((each) => each.knownOf(value) === 'given')) equalities.filter(value)
  }

  #equality({ kind, lexpr, rexpr }: A_Expr, scope: Scope, equalities: Equalities): void {
    const query = rexpr && 'SubLink' in rexpr ? rexpr.SubLink : undefined
    const isOneColumn = query?.subLinkType === 'EXPR_SUBLINK' || query?.subLinkType === 'ARRAY_SUBLINK'
    if (isOneColumn && query?.subselect) {
      const [first] = this.#statement(query.subselect, scope, equalities).values()
      const value = this.#value(lexpr, scope, equalities)
      if (first !== undefined && this.#readFirst.has(first)) equalities.filter(value)
      else equalities.equate(value, first)
      return
    }
    this.#sublinks([lexpr, rexpr], scope, equalities)
    const [left, right] = [itemsOf(lexpr), itemsOf(rexpr)]
    if (kind === 'AEXPR_OP' && left.length === right.length)
      left.forEach((item, place) =>
        equalities.equate(this.#value(item, scope, equalities), this.#value(right[place], scope, equalities)),
      )
    if (kind === 'AEXPR_OP_ANY' && rexpr && isConstant(rexpr)) equalities.filter(this.#value(lexpr, scope, equalities))
    if (kind === 'AEXPR_IN' && rexpr && 'List' in rexpr) {
      const rows = (rexpr.List.items ?? []).map(itemsOf)
      left.forEach((item, place) => {
        if (rows.every((row) => row[place] && isConstant(row[place])))
          equalities.filter(this.#value(item, scope, equalities))
      })
    }
  }

  /** `exists (…)` or `… in (…)`: a row of the subquery belongs to that of the statement. */
  #sublink({ subLinkType, subselect, testexpr, operName }: SubLink, scope: Scope, equalities: Equalities): void {
    if (!subselect) return
    this.#sublinks([testexpr], scope, equalities)
    const columns = [...this.#statement(subselect, scope, equalities).values()]
    if (subLinkType === 'ANY_SUBLINK' && (!operName || isNamed(operName, '=')))
      itemsOf(testexpr).forEach((item, place) =>
        equalities.equate(this.#value(item, scope, equalities), columns[place]),
      )
  }

  /** Reads subqueries in expressions. What they say holds for their rows alone. */
  #sublinks(nodes: unknown, scope: Scope, equalities: Equalities, isOwnStatement = false): void {
    if (Array.isArray(nodes)) for (const node of nodes) this.#sublinks(node, scope, equalities, isOwnStatement)
    else if (typeof nodes === 'object' && nodes !== null) {
      if (isSubquery(nodes)) return this.#sublink(nodes.SubLink, scope, equalities.copy())
      if ('SelectStmt' in nodes && isOwnStatement) return
      for (const value of Object.values(nodes)) this.#sublinks(value, scope, equalities, isOwnStatement)
    }
  }

  #targets(list: Node[] | undefined, scope: Scope, equalities: Equalities): Columns {
    const columns: Columns = new Map()
    for (const target of list ?? []) {
      if (!('ResTarget' in target)) continue
      const { name, val } = target.ResTarget
      const fields = val && 'ColumnRef' in val ? (val.ColumnRef.fields ?? []) : []
      const last = fields.at(-1)
      if (last && 'A_Star' in last) {
        const [of] = namesOf(fields)
        const parts = scope.parts.filter((part) => of === undefined || part.alias === of)
        for (const [column, value] of parts.flatMap((part) => [...part.columns])) columns.set(column, value)
      } else columns.set(name ?? namesOf(fields).at(-1) ?? `?${columns.size}`, this.#value(val, scope, equalities))
    }
    return columns
  }

  #value(node: Node | undefined, scope: Scope, equalities: Equalities): string | undefined {
    if (!node) return undefined
    if ('TypeCast' in node) return this.#value(node.TypeCast.arg, scope, equalities)
    if ('ColumnRef' in node) return resolve(namesOf(node.ColumnRef.fields ?? []), scope)
    if (!isConstant(node)) return undefined
    const value = JSON.stringify(node, (key, part: unknown) => (key === 'location' ? undefined : part))
    equalities.give(value)
    return value
  }

  #newValue(name: string): string {
    return `?${(this.#parts += 1)}.${name}`
  }
}

type InsertStmt = Extract<Node, { InsertStmt: unknown }>['InsertStmt']
