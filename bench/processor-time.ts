import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Microseconds of processor time that a process has used until now, user and system, all its threads. */
export function processorMicroseconds(pid: number): number {
  const [, , , , , , , , , , , user, system] = statOf(pid)
  return ((Number(user) + Number(system)) / ticksPerSecond) * 1_000_000
}

/** The same of a process and of those that it has started and that still run. */
export function processorMicrosecondsOfFamily(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid)
  return [pid, ...children].map(processorMicroseconds).reduce((sum, each) => sum + each, 0)
}

/** Megabytes that a process holds in memory. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

/** The fields of `/proc/PID/stat` after the program's name, which may itself hold spaces and brackets. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(statOf(pid)[1])
  } catch (error) {
    // It has ended since it was listed.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}
