import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, on every platform. */
const microsecondsPerTick = 10_000

/** Returns the processor time of the threads of a process so far, user and system, in microseconds. */
export function processorMicroseconds(pid: number): number {
  const threads = list(`/proc/${pid}/task`)
  return threads.map((thread) => nanosecondsOf(`/proc/${pid}/task/${thread}`)).reduce(sum, 0) / 1000
}

/**
 * Returns the same for a process and its child processes, of which some may have ended, such as the processes of closed
 * connections to a database.
 */
export function processorMicrosecondsOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid)
  return [pid, ...children].map(processorMicroseconds).reduce(sum, microsecondsOfEnded(pid))
}

/** Returns the resident memory of a process in megabytes. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return Number(kilobytes) / 1024
}

/** Returns the run time of a thread, to the nanosecond: `stat` counts in ticks of ten milliseconds. */
function nanosecondsOf(thread: string): number {
  return Number(read(`${thread}/schedstat`).split(' ')[0])
}

/** Returns the processor time of the child processes that have ended: `cutime` and `cstime` (proc(5)). */
function microsecondsOfEnded(pid: number): number {
  // The second field is a name in parentheses.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * microsecondsPerTick
}

function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return parent === undefined ? undefined : Number(parent)
}

/** Reads the kernel's file about a process or thread; empty if it has ended since it was listed. */
function read(path: string): string {
  return unlessEnded(() => readFileSync(path, 'utf8')) ?? ''
}

/** Lists a folder of the kernel about a process; empty if it has ended since it was listed. */
function list(path: string): string[] {
  return unlessEnded(() => readdirSync(path)) ?? []
}

function unlessEnded<Result>(ask: () => Result): Result | undefined {
  try {
    return ask()
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

function sum(total: number, each: number): number {
  return total + each
}
