import { write, writeSync } from 'node:fs'

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
const busyMilliseconds = 100
const busyAttemptsMax = 10
const failedMilliseconds = 1000

/**
 * Opens the output of the log. The service outlives it: on a full disk it keeps some lines, drops further ones, says so
 * once on standard error, and tries again every second. After the reader of a pipe has gone, nothing is written. pino's
 * own output ends the process on a full disk, and waits for the disk at the end, for as long as it takes.
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
      retry = setTimeout(writeNext, busyMilliseconds)
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
    flushSync: () => writeAll(queue, isWriting ? 1 : 0),
  }
}

/** Writes all batches but the one that is being written. Stops if the output fails, or is busy for a second. */
function writeAll(queue: ReturnType<typeof createQueue>, first: number): void {
  for (let attempts = 0; attempts < busyAttemptsMax;) {
    const next = queue.at(first)
    if (!next) return
    try {
      queue.remove(first, writeSync(standardOutput, next))
    } catch (error) {
      if (!isBusy(error)) return
      attempts += 1
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMilliseconds)
    }
  }
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
