import { randomInt } from 'node:crypto'

export { randomBytes } from 'node:crypto'

/** Returns uniformly distributed decimal digits, at most 14. */
export function randomDigits(count: number): string {
  return String(randomInt(10 ** count)).padStart(count, '0')
}
