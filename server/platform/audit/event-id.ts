import { randomUUIDv7 } from 'node:crypto'

/** What an ID of one second is greater than one of the second before: a millisecond has 12 further bits. */
const second = 1000n << 12n

let last = 0n

/**
 * Creates the ID of an event: a UUID version 7, greater than those that this process has created before it (RFC 9562
 * §6.2). Events of one millisecond are therefore listed in the order in which they were recorded. A clock that is set
 * back by more than a second starts again.
 */
export function createEventId(): string {
  const id = randomUUIDv7()
  const drawn = BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(15, 18)}`)
  last = drawn > last || last - drawn > second ? drawn : last + 1n
  const digits = last.toString(16).padStart(15, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(12)}${id.slice(18)}`
}
