/**
 * Checks the statements that the requests of tests have sent: on a distributed database, each stays with the shards of
 * keys that it is given, reads tables that every node has, or is an exception with a reason.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placements } from '../../server/modules.ts'
import { toSharded } from '../../server/platform/database/distributed/engine.ts'
import type { Recorded } from '../../server/testing/recorded-statements.ts'
import { exceptions, type Exception, ofOperator } from './exceptions.ts'
import type { Schema, Stray } from './scope.ts'
import { findStrays } from './statement.ts'

/** A statement that a distributed database does not get: `onOneServer` of the service. */
const ofOneServer = '/* on one server */'
/** Statements on rows, as opposed to those on transactions, settings and locks. */
const ofRows = /^\s*(?:select|insert|update|delete|with|\()/i
const tablesFile = join(import.meta.dirname, '../../server/platform/database/tables.ts')

/** Reads the columns of each table from the types of rows. */
function readSchema(text = readFileSync(tablesFile, 'utf8')): Schema {
  const tables = [...text.matchAll(/^ {2}(\w+): \{\n((?: {4}.*\n)+)/gm)]
  return new Map(
    tables.map(([, table = '', body = '']) => {
      const columns = [...body.matchAll(/^ {4}(\w+): /gm)].map(([, column = '']) => column)
      return [table, { columns, placement: placements.get(table) ?? 'coordinator' }]
    }),
  )
}

/**
 * Reads the recorded statements of all processes: each once, whatever the length of its lists. One that users send too
 * is not excused by a request of an operator.
 */
export function readRecorded(folder: string): Recorded[] {
  const files = globSync('*.jsonl', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'))
  const lines = files.flatMap((text) => text.split('\n').filter((line) => line !== ''))
  const recorded = lines.map(readLine).map(toSharded)
  // The last one of a shape is kept.
  recorded.sort((a, b) => Number(ofOperator.test(b.request)) - Number(ofOperator.test(a.request)))
  return [...new Map(recorded.map((one) => [shapeOf(one.text), one])).values()].filter(
    ({ text }) => ofRows.test(text) && !text.includes(ofOneServer),
  )
}

function readLine(line: string): Recorded {
  const one: unknown = JSON.parse(line)
  if (typeof one === 'object' && one !== null && 'request' in one && 'text' in one)
    return { request: String(one.request), text: String(one.text) }
  throw new Error(`no recorded statement: ${line}`)
}

function shapeOf(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\((?:\$\d+, )+\$\d+\)/g, '($1)')
    .replaceAll(/(?:\(\$1\), )+/g, '')
}

/** Returns the errors, a paragraph for each statement that strays. */
export function checkStatements(recorded: readonly Recorded[], schema = readSchema()): string[] {
  return recorded.flatMap(({ request, text }) => {
    const strays = findStrays(text, schema).filter((stray) => !exceptions.some((one) => covers(one, stray, request)))
    const problems = strays.map(({ table, problem, by = [] }) =>
      by.length > 0 ? `${table} ${problem}, but by ${by.join(', ')}` : `${table} ${problem}`,
    )
    return problems.length > 0 ? [`${request}: ${problems.join('; ')}:\n  ${text.replaceAll(/\s+/g, ' ').trim()}`] : []
  })
}

function covers(exception: Exception, { table, problem, by, of = [] }: Stray, request: string): boolean {
  if (exception.table !== table) return false
  if ('problem' in exception) return exception.problem === problem
  if (by === undefined) return false
  if ('of' in exception) return of.includes(exception.of)
  return 'by' in exception ? by.includes(exception.by) : exception.request.test(request)
}
