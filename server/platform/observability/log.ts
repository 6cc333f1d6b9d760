import pino, { type Logger } from 'pino'

export type { Logger }

/** Names under which a value is never written, wherever a library may have put it. */
const redacted = ['authorization', 'cookie', 'set-cookie', 'password', 'secret', 'token', 'code', 'verifier']

/**
 * The log: JSON lines on standard output, written asynchronously, many at a time: at the latest after a fifth of a
 * second, and at the end of the process. We log what happened (method, path pattern, status,
 * request id), never what was said: no query, no body, no header.
 */
export function createLog(level: string): { log: Logger; flush: () => Promise<void> } {
  const lines = gatherLines()
  const paths = redacted.flatMap((name) => [`["${name}"]`, `*["${name}"]`])
  const log = pino(
    { level, base: null, redact: { paths, censor: '[redacted]' }, serializers: { error: describeError } },
    lines,
  )
  return { log, flush: lines.flush }
}

const gatheredCharacters = 8192
const gatheredMilliseconds = 200

/** Before any stream is made: it, too, writes at the exit what it has, and takes nothing after that. */
const passedAtExit = new Set<() => void>()
process.on('exit', () => passedAtExit.forEach((pass) => pass()))

/** Gathers lines for the stream that writes them, which measures all that waits anew with all that it is given. */
function gatherLines() {
  let gathered = ''
  let late: NodeJS.Timeout | undefined
  function pass(): void {
    clearTimeout(late)
    late = undefined
    if (gathered !== '') destination.write(gathered)
    gathered = ''
  }
  passedAtExit.add(pass)
  const destination = pino.destination({ dest: 1, sync: false, minLength: 1 })
  return {
    write(line: string): void {
      gathered += line
      late ??= setTimeout(pass, gatheredMilliseconds).unref()
      if (gathered.length >= gatheredCharacters) pass()
    },
    flushSync(): void {
      pass()
      destination.flushSync()
    },
    flush(): Promise<void> {
      pass()
      return new Promise((resolve) => destination.flush(() => resolve()))
    },
  }
}

/**
 * A fault as the operator needs it. A database error's detail is left out: it quotes the row. The code of an error
 * (`ECONNREFUSED`, `57014`) has another name here, since `code` is redacted wherever it stands.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const hasCode = 'code' in error && typeof error.code === 'string' && /^[A-Z0-9_]{1,60}$/.test(error.code)
  const code = hasCode ? { errorCode: error.code } : {}
  return { name: error.name, message: error.message, ...code, stack: error.stack }
}
