import type { Statement } from './database.ts'

/**
 * A statement that serves many callers at once. Its parameters are arrays with an element for each caller. Each row has
 * in `nth` the number of its caller, from one.
 */
export type BatchStatement = Statement & {
  /** Index of the value that identifies the row to change. Callers of the same row never share a statement. */
  changes?: number
  /**
   * Index of the value that the row itself returns as `own`: the hash of a secret, or an ID. Rows with another value
   * are never returned to the caller.
   */
  own: number
}

/**
 * Builds the rows of a batch statement, `requested`: a column for each parameter, with its name and type, and `nth`.
 * The subquery hides the length of the arrays. PostgreSQL would otherwise estimate that a plan for the callers of one
 * execution is cheaper than one for any, and plan the statement each time.
 */
export function requestedRows(columns: string): string {
  const parameters = columns.split(',').map((column, index) => {
    const [name, type] = column.trim().split(' ')
    return { name, values: `$${index + 1}::${type}[]` }
  })
  const [first, ...others] = parameters.map(({ values }) => values)
  const names = parameters.map(({ name }) => name)
  return `unnest(${[`(select ${first})`, ...others].join(', ')})
    with ordinality as requested (${names.join(', ')}, nth)`
}

/** Runs a statement for one caller, together with concurrent callers. Returns at most one row. */
export type BatchedQuery<Row> = (values: unknown[]) => Promise<Row | undefined>

type Caller<Row> = { values: unknown[]; resolve: (row: Row | undefined) => void; reject: (error: unknown) => void }

/** Number of the row's caller, from one, and the caller's value that the row contains. */
type Marked = { nth: number; own: unknown }

type BatcherOptions<Row> = {
  run: (statement: Statement, columns: unknown[][]) => Promise<(Row & Marked)[]>
  /** Maximum number of concurrent runs of the statement. */
  underWayMax: number
  /** Decides whether a statement that failed with this error has certainly changed nothing. */
  changedNothing: (error: unknown) => boolean
}

const maxBatchSize = 64

/**
 * Creates a batcher that collects callers without delaying them. Callers in the same turn of the event loop are sent
 * together at its end; callers above the limit are sent when a statement returns. A quiet service has no cost, and a
 * busy one shares round trip and commit among many callers.
 */
export function createStatementBatcher<Row>(
  statement: BatchStatement,
  { run, underWayMax, changedNothing }: BatcherOptions<Row>,
): BatchedQuery<Row> {
  let waiting: Caller<Row>[] = []
  const changing = new Set<unknown>()
  let underWay = 0
  let due = false

  function sendSoon(): void {
    if (due) return
    due = true
    setImmediate(() => {
      due = false
      send()
    })
  }

  function send(): void {
    while (underWay < underWayMax) {
      const together = takeTogether()
      if (together.length === 0) return
      underWay += 1
      void answer(together).finally(() => {
        underWay -= 1
        for (const caller of together) changing.delete(rowOf(caller))
        sendSoon()
      })
    }
  }

  /** Takes as many waiting callers as may share a statement, in order. */
  function takeTogether(): Caller<Row>[] {
    const together: Caller<Row>[] = []
    const left: Caller<Row>[] = []
    for (const caller of waiting) {
      const row = rowOf(caller)
      const fits = together.length < maxBatchSize && (row === undefined || !changing.has(row))
      if (fits && row !== undefined) changing.add(row)
      ;(fits ? together : left).push(caller)
    }
    waiting = left
    return together
  }

  async function answer(together: Caller<Row>[]): Promise<void> {
    try {
      const rows = await run(statement, columnsOf(together))
      const byCaller = sortOut(statement, rows, together)
      together.forEach(({ resolve }, index) => resolve(byCaller.get(index + 1)))
    } catch (error) {
      // One of the callers may have caused the error, so each is retried alone and the others are not affected.
      if (together.length > 1 && changedNothing(error)) await Promise.all(together.map((caller) => answer([caller])))
      else together.forEach(({ reject }) => reject(error))
    }
  }

  function rowOf({ values }: Caller<Row>): unknown {
    return statement.changes === undefined ? undefined : values[statement.changes]
  }

  return (values) => {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>()
    waiting.push({ values, resolve, reject })
    sendSoon()
    return promise
  }
}

/**
 * Assigns rows to their callers. Throws before any caller receives one: if one row belongs to another caller, all may.
 */
function sortOut<Row extends Marked>(
  { name, own }: BatchStatement,
  rows: Row[],
  together: { values: unknown[] }[],
): Map<number, Row> {
  const byCaller = new Map(rows.map((row) => [row.nth, row]))
  if (byCaller.size < rows.length || rows.some((row) => !isOwn(row, together[row.nth - 1]?.values[own])))
    throw new Error(`statement “${name}” returned rows of other callers`)
  return byCaller
}

/** Checks whether a row contains the value of its caller. */
function isOwn({ own }: Marked, requested: unknown): boolean {
  if (requested === undefined) return false
  return own instanceof Uint8Array && requested instanceof Uint8Array
    ? Buffer.compare(own, requested) === 0
    : own === requested
}

/** Returns the values of all callers, a column for each parameter. */
function columnsOf<Row>(callers: Caller<Row>[]): unknown[][] {
  const [first] = callers
  return (first?.values ?? []).map((_, index) => callers.map(({ values }) => written(values[index])))
}

/** Converts an instant to text. The driver would format it in local time, field by field. */
function written(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value
}
