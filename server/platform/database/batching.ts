import type { Statement } from './database.ts'

/**
 * A statement that serves many callers at once: its parameters are arrays with an element for each caller, and each of
 * its rows says in `nth` which caller it is for, counted from one.
 */
export type GatheredStatement = Statement & {
  /** Which of a caller's values names the row that it changes: callers of one row never share a statement. */
  changes?: number
  /**
   * Which of a caller's values the row itself carries, as `own`, when it is theirs: a secret's hash, or an id. Whatever
   * else comes as theirs is never handed out.
   */
  own: number
}

/** Runs a statement for one caller, together with whoever else asks for it meanwhile. At most one row comes. */
export type Gathered<Row> = (values: unknown[]) => Promise<Row | undefined>

type Caller<Row> = { values: unknown[]; resolve: (row: Row | undefined) => void; reject: (error: unknown) => void }

/** For which caller a row is, counted from one, and the value of theirs that it carries. */
type Marked = { nth: number; own: unknown }

type Way<Row> = {
  run: (statement: Statement, columns: unknown[][]) => Promise<(Row & Marked)[]>
  /** How many of these statements may be under way. */
  underWayMax: number
  /** Whether a statement that failed so has certainly changed nothing. */
  changedNothing: (error: unknown) => boolean
}

const callersMax = 64

/**
 * Gathers callers without making any wait for more of them: those who come in the same turn of the event loop are sent
 * together at its end, and those who come while there is no room as soon as a statement is back. A quiet service pays
 * nothing for it, and a busy one pays the round trip and the commit once for many.
 */
export function gathering<Row>(
  statement: GatheredStatement,
  { run, underWayMax, changedNothing }: Way<Row>,
): Gathered<Row> {
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

  /** As many of those who wait as may go together, the first first. */
  function takeTogether(): Caller<Row>[] {
    const together: Caller<Row>[] = []
    const left: Caller<Row>[] = []
    for (const caller of waiting) {
      const row = rowOf(caller)
      const fits = together.length < callersMax && (row === undefined || !changing.has(row))
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
      // It may be the fault of one of them alone. Nobody suffers for another: each is tried by itself.
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

/** The rows by their callers. Throws before anybody gets theirs: where one row is another's, all may be. */
function sortOut<Row extends Marked>(
  { name, own }: GatheredStatement,
  rows: Row[],
  together: { values: unknown[] }[],
): Map<number, Row> {
  const byCaller = new Map(rows.map((row) => [row.nth, row]))
  if (byCaller.size < rows.length || rows.some((row) => !isOwn(row, together[row.nth - 1]?.values[own])))
    throw new Error(`The statement “${name}” has answered callers with rows that are not theirs.`)
  return byCaller
}

/** Whether a row carries what its caller has asked by. */
function isOwn({ own }: Marked, asked: unknown): boolean {
  if (asked === undefined) return false
  return own instanceof Uint8Array && asked instanceof Uint8Array ? Buffer.compare(own, asked) === 0 : own === asked
}

/** The values of all callers, a column for each parameter. */
function columnsOf<Row>(callers: Caller<Row>[]): unknown[][] {
  const [first] = callers
  return (first?.values ?? []).map((_, index) => callers.map(({ values }) => written(values[index])))
}

/** An instant as text: the driver would write it out field by field, in local time. */
function written(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value
}
