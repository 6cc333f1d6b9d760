import pino, { type Logger } from 'pino'
import { openLogOutput } from './log-output.ts'
import { createTextFormat, type TextOptions } from './log-text.ts'

export type { Logger }

/** Names whose values are never logged, wherever a library puts them. */
const redacted = ['authorization', 'cookie', 'set-cookie', 'password', 'secret', 'token', 'code', 'verifier']

/**
 * Creates the log: JSON lines on standard output, or text for a reader, written asynchronously in batches, at most a
 * fifth of a second late and at the end of the process. It records events (method, path pattern, status, request ID)
 * and never content: no query, body or header.
 */
export function createLog(level: string, text?: TextOptions): { log: Logger; flush: () => Promise<void> } {
  const lines = gatherLines(text && createTextFormat(text))
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const log = pino(
    { level, base: null, redact: { paths, censor: '[redacted]' }, serializers: { error: describeError } },
    lines,
  )
  return { log, flush: lines.flush }
}

const gatheredCharacters = 8192
const gatheredMilliseconds = 200

const writtenAtExit = new Set<() => void>()
process.on('exit', () => writtenAtExit.forEach((writeRest) => writeRest()))

/** Collects lines, because a write costs as much for one as for many. */
function gatherLines(format = (line: string) => line) {
  let gathered = ''
  let late: NodeJS.Timeout | undefined
  const output = openLogOutput()
  function pass(): void {
    clearTimeout(late)
    late = undefined
    if (gathered !== '') output.write(gathered)
    gathered = ''
  }
  function flushSync(): void {
    pass()
    output.flushSync()
  }
  writtenAtExit.add(flushSync)
  return {
    write(line: string): void {
      gathered += format(line)
      late ??= setTimeout(pass, gatheredMilliseconds).unref()
      if (gathered.length >= gatheredCharacters) pass()
    },
    flushSync,
    flush(): Promise<void> {
      pass()
      return output.flush()
    },
  }
}

/**
 * Serializes an error for the operator. The detail of a database error is left out, because it quotes the row. The code
 * of an error (`ECONNREFUSED`, `57014`) has another name here, because `code` is redacted everywhere.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const hasCode = 'code' in error && typeof error.code === 'string' && /^[A-Z0-9_]{1,60}$/.test(error.code)
  const code = hasCode ? { errorCode: error.code } : {}
  return { name: error.name, message: error.message, ...code, stack: error.stack }
}
