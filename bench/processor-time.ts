import { readdirSync, readFileSync } from 'node:fs'

/** Microseconds of processor time that the threads of a process have used until now, user and system. */
export function processorMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.map((thread) => nanosecondsOf(`/proc/${pid}/task/${thread}`)).reduce(sum, 0) / 1000
}

/** The same of a process and of those that it has started and that still run. */
export function processorMicrosecondsOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid)
  return [pid, ...children].map(processorMicroseconds).reduce(sum, 0)
}

/** Megabytes that a process holds in memory. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return Number(kilobytes) / 1024
}

/** How long a thread has run, to the nanosecond: `stat` counts in ticks of ten milliseconds. */
function nanosecondsOf(thread: string): number {
  return Number(read(`${thread}/schedstat`).split(' ')[0])
}

function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s+(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1]
  return parent === undefined ? undefined : Number(parent)
}

/** What the kernel says of a process or thread; nothing of one that has ended since it was listed. */
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
