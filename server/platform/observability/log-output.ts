import { write, writeSync } from 'node:fs'
import { Socket } from 'node:net'

/** Writes batches of whole log lines to standard output, in order. */
export type LogOutput = {
  write: (lines: string) => void
  /** Resolves when nothing is left to write, or if nothing can be written now. */
  flush: () => Promise<void>
  /** Writes what can be written now. For the end of the process. */
  flushSync: () => void
}

const [standardOutput, standardError] = [1, 2]
/** Maximum that waits for a disk or a reader. Further lines are dropped. */
const waitingBytesMax = 1024 * 1024
/** Time until the next attempt, which doubles, for a reader that is behind. All attempts take about a second. */
const [busyMillisecondsMin, busyMillisecondsMax] = [4, 100]
const busyAttemptsMax = 14
const busyMilliseconds = (attempts: number) => Math.min(busyMillisecondsMin * 2 ** attempts, busyMillisecondsMax)
const failedMilliseconds = 1000

/**
 * Opens the output of the log. The service outlives it: on a full disk it keeps some lines, drops further ones, says so
 * once on standard error, and tries again every second. After the reader of a pipe has gone, nothing is written. A
 * reader that is stuck delays the end of the process by a second or two. pino's own output ends the process on a full
 * disk, and waits for the disk or the reader at the end, for as long as it takes.
 */
export function openLogOutput(): LogOutput {
  const queue = createQueue()
  let isWriting = false
  let isFailing = false
  let isClosed = false
  let busyAttempts = 0
  let retry: NodeJS.Timeout | undefined
  const waiters: (() => void)[] = []
  const release = () => waiters.splice(0).forEach((resolve) => resolve())

  function writeNext(): void {
    clearTimeout(retry)
    retry = undefined
    const next = queue.at(0)
    if (!next) return finish()
    isWriting = true
    keepFromBlocking()
    write(standardOutput, next, (error, writtenBytes) => {
      isWriting = false
      if (error) return retryAfter(error)
      queue.remove(0, writtenBytes)
      busyAttempts = 0
      writeNext()
    })
  }

  /** Nothing is left to write. */
  function finish(): void {
    const dropped = queue.takeDropped()
    if (isFailing || dropped > 0) report(`The log is written again. Lines that were dropped: ${dropped}.`)
    isFailing = false
    release()
  }

  function retryAfter(error: NodeJS.ErrnoException): void {
    if (error.code === 'EPIPE') {
      isClosed = true
      queue.clear()
      return release()
    }
    if (isBusy(error)) {
      retry = setTimeout(writeNext, busyMilliseconds(busyAttempts))
      busyAttempts += 1
      if (busyAttempts >= busyAttemptsMax) release()
      return
    }
    if (!isFailing) report(`The log cannot be written (${error.code}). The service continues without it.`)
    isFailing = true
    retry = setTimeout(writeNext, failedMilliseconds).unref()
    release()
  }

  return {
    write(lines) {
      if (isClosed) return
      queue.add(lines)
      if (!isWriting && !retry) writeNext()
    },
    flush: () =>
      new Promise((resolve) => {
        waiters.push(resolve)
        if (!isWriting && (!retry || isFailing)) writeNext()
      }),
    flushSync: () => writeAll(queue, { first: isWriting ? 1 : 0, attemptsBefore: busyAttempts }),
  }
}

/**
 * Writes all batches but the one that is being written. Stops if the output fails, or has been busy for a second, also
 * before.
 */
function writeAll(
  queue: ReturnType<typeof createQueue>,
  { first, attemptsBefore }: { first: number; attemptsBefore: number },
): void {
  for (let attempts = attemptsBefore; ;) {
    const next = queue.at(first)
    if (!next) return
    try {
      keepFromBlocking()
      queue.remove(first, writeSync(standardOutput, next))
    } catch (error) {
      if (!isBusy(error)) return
      attempts += 1
      if (attempts >= busyAttemptsMax) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMilliseconds(attempts))
    }
  }
}

/**
 * Lets writes to a pipe or socket fail with EAGAIN instead of waiting for its reader: a process cannot exit while a
 * thread waits. Called before each write, because processes that share the output change that for each other: Node does
 * so whenever it starts one of them, and when one exits.
 */
function keepFromBlocking(): void {
  const { stdout } = process
  if (!(stdout instanceof Socket) || stdout.isTTY) return
  const handle: unknown = Reflect.get(stdout, '_handle')
  if (canBlock(handle)) handle.setBlocking(false)
}

function canBlock(handle: unknown): handle is { setBlocking: (isBlocking: boolean) => void } {
  return (
    typeof handle === 'object' && handle !== null && 'setBlocking' in handle && typeof handle.setBlocking === 'function'
  )
}

/** Creates the queue of batches to write, of limited size. A batch is removed as far as it is written. */
function createQueue() {
  const batches: Buffer[] = []
  let bytes = 0
  let dropped = 0
  return {
    at: (index: number) => batches[index],
    add(lines: string): void {
      const batch = Buffer.from(lines)
      if (bytes + batch.length > waitingBytesMax) {
        dropped += lines.split('\n').length - 1
        return
      }
      batches.push(batch)
      bytes += batch.length
    },
    remove(index: number, writtenBytes: number): void {
      bytes -= writtenBytes
      const left = batches[index]?.subarray(writtenBytes)
      if (left && left.length > 0) batches[index] = left
      else batches.splice(index, 1)
    },
    clear(): void {
      batches.length = 0
      bytes = 0
    },
    /** Returns the number of lines dropped since the last call. */
    takeDropped(): number {
      const lines = dropped
      dropped = 0
      return lines
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}

/** Says something about the log where the log is not. Standard error may be on the same disk. */
function report(sentence: string): void {
  try {
    writeSync(standardError, `${sentence}\n`)
  } catch {
    // Nothing is left to say it on.
  }
}
