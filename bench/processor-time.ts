import { readdirSync, readFileSync } from 'node:fs'

/** Returns the processor time of the threads of a process so far, user and system, in microseconds. */
export function processorMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.map((thread) => nanosecondsOf(`/proc/${pid}/task/${thread}`)).reduce(sum, 0) / 1000
}

/** Returns the same for a process and its running child processes. */
export function processorMicrosecondsOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid)
  return [pid, ...children].map(processorMicroseconds).reduce(sum, 0)
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

function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return parent === undefined ? undefined : Number(parent)
}

/** Reads the kernel's file about a process or thread; empty if it has ended since it was listed. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return ''
    throw error
  }
}

function sum(total: number, each: number): number {
  return total + each
}
