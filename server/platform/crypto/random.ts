import { randomBytes, randomFillSync, randomInt } from 'node:crypto'

export { randomBytes }

const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * Returns bytes of the CSPRNG for a token. They are drawn by the page, as `randomUUID` of Node does: drawn one by one,
 * the random bytes of a refresh took 7 % of its processor time. Keys, which are rare and live long, are drawn with
 * `randomBytes`.
 */
export function randomTokenBytes(count: number): Buffer {
  if (count > pool.length) return randomBytes(count)
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.from(pool.subarray(used, used + count))
  pool.fill(0, used, used + count)
  used += count
  return bytes
}

/** Returns uniformly distributed decimal digits, at most 14. */
export function randomDigits(count: number): string {
  return String(randomInt(10 ** count)).padStart(count, '0')
}
