import { CountersignError } from '../shared/error.ts'

/**
 * Where an app remembers what it has seen of the log. There is one key for the log (`log`), and one for each identity
 * that was asked to sign (`identity/` and 64 hexadecimal digits). A value is a text of at most 500 characters. Both
 * functions may be called at the same time for the same key, also by several processes.
 */
export type TrustStore = {
  /** True if values outlive the process. `log: 'first-use'` requires it. */
  readonly isDurable: boolean
  /** Returns the value of a key; undefined if it has none. */
  read(key: string): Promise<string | undefined>
  /**
   * Replaces the value of a key in one step, if it is still `expected` (undefined: the key has no value yet). Returns
   * true when `next` is stored durably, and false if another value was found, which is kept.
   */
  advance(key: string, expected: string | undefined, next: string): Promise<boolean>
}

/** Creates a store that ends with the process. An app that restarts trusts what it is shown first again. */
export function createMemoryTrustStore(): TrustStore {
  const values = new Map<string, string>()
  return {
    isDurable: false,
    read: async (key) => values.get(key),
    async advance(key, expected, next) {
      if (values.get(key) !== expected) return false
      values.set(key, next)
      return true
    },
  }
}

/** Wraps a store of the app: an error of it, or a wrong result, is a `trust_store_failed`. */
export function withStoreErrors(store: TrustStore): TrustStore {
  return {
    isDurable: store.isDurable,
    async read(key) {
      const value: unknown = await guard(() => store.read(key))
      if (value !== undefined && typeof value !== 'string') throw storeFailed('read must return a text or undefined.')
      return value
    },
    async advance(key, expected, next) {
      const isStored: unknown = await guard(() => store.advance(key, expected, next))
      if (typeof isStored !== 'boolean') throw storeFailed('advance must return true or false.')
      return isStored
    },
  }
}

async function guard(use: () => Promise<unknown>): Promise<unknown> {
  try {
    return await use()
  } catch (cause) {
    throw storeFailed('It threw an error.', cause)
  }
}

/** Returns the error for a store that does not work. Nothing was sent to the service. */
export function storeFailed(reason: string, cause?: unknown): CountersignError {
  return new CountersignError(
    { code: 'trust_store_failed', description: `The trust store failed: ${reason}` },
    { cause },
  )
}
