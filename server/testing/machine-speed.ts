/**
 * Compares the machine with the one for which limits in milliseconds of processor time were set. The same program costs
 * three times as much on a processor that is slow, or whose time others use.
 */
import { createHash } from 'node:crypto'

/** Processor time of the reference work on the machine for which the limits were set. */
const ordinaryMilliseconds = 0.8
/** Calls after which the reference work is compiled. */
const warmUpCalls = 100

const list = JSON.stringify(Array.from({ length: 400 }, (_, n) => ({ n, name: `name ${n}`, list: [n, `${n}`, [n]] })))

/** Reads, builds, replaces, stores and hashes text, as parsers do. */
function work(): string {
  const entries: unknown = JSON.parse(list)
  const text = JSON.stringify(entries).replaceAll(/\d+/g, (digits) => `${digits}${digits.length}`)
  const places = new Map(text.split('"').map((part, place) => [part, place]))
  let sum = 0
  for (let place = 0; place < text.length; place += 1) sum = (sum * 31 + text.charCodeAt(place)) % 65_521
  return createHash('sha256').update(`${text}${places.size}${sum}`).digest('hex')
}

let isWarm = false

/** Does the reference work. Returns its processor time as a multiple of what it takes on the ordinary machine. */
export function measureSlowness(): number {
  if (!isWarm) for (let calls = 0; calls < warmUpCalls; calls += 1) work()
  isWarm = true
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / ordinaryMilliseconds
}
