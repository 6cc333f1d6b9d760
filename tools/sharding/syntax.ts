import type { Node } from 'libpg-query'

type Expression = Extract<Node, { A_Expr: unknown }>
export type A_Expr = Expression['A_Expr']
type Subquery = Extract<Node, { SubLink: unknown }>
export type SubLink = Subquery['SubLink']

function isExpression(node: object): node is Expression {
  return 'A_Expr' in node
}

export function isSubquery(node: object): node is Subquery {
  return 'SubLink' in node
}

export function namesOf(nodes: Node[]): string[] {
  return nodes.flatMap((node) => ('String' in node ? [node.String.sval ?? ''] : []))
}

export function itemsOf(node: Node | undefined): Node[] {
  if (!node) return []
  if ('RowExpr' in node) return node.RowExpr.args ?? []
  return [node]
}

export function isNamed(name: Node[] | undefined, expected: string): boolean {
  return namesOf(name ?? []).at(-1) === expected
}

export function isEquality({ name, kind }: A_Expr): boolean {
  return isNamed(name, '=') && ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(kind ?? '')
}

/** Checks whether an expression reads no column and no row. */
export function isConstant(node: Node): boolean {
  return !contains(node, (each) => 'ColumnRef' in each || 'SubLink' in each)
}

export function contains(node: unknown, matches: (node: object) => boolean): boolean {
  if (typeof node !== 'object' || node === null) return false
  return matches(node) || Object.values(node).some((part) => contains(part, matches))
}

/** Checks for an interval that is added to a column of type `timestamptz`. */
export function addsIntervalToColumn(value: Node): boolean {
  return contains(value, (node) => {
    if (!isExpression(node)) return false
    const { name, lexpr, rexpr } = node.A_Expr
    if (!isNamed(name, '+') && !isNamed(name, '-')) return false
    const isInterval = (side: Node | undefined) => contains(side, isIntervalCast) && !contains(side, isTimeCast)
    const hasColumn = !lexpr || !isConstant(lexpr)
    return isInterval(rexpr) && hasColumn && !contains(lexpr, isZoned)
  })
}

function isIntervalCast(node: object): boolean {
  return 'TypeCast' in node && contains(node, (part) => 'sval' in part && part.sval === 'interval')
}

function isTimeCast(node: object): boolean {
  return 'TypeCast' in node && contains(node, (part) => 'sval' in part && part.sval === 'timestamptz')
}

function isZoned(node: object): boolean {
  return 'funcname' in node && contains(node, (part) => 'sval' in part && part.sval === 'timezone')
}
