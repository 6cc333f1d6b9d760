import type { Service } from '../../../server/testing/service.ts'
import { isMainThread } from 'node:worker_threads'

/** Step of the provider's clock in seconds: more than the half minute after which a code is redeemed again. */
export const clockStepSeconds = 31

/** Options that start a provider with an adjustable clock. */
export const steppable = { NODE_OPTIONS: `--import=${new URL('./adjustable-clock.ts', import.meta.url).href}` }

/** The clock of a provider that was started with `steppable`. */
export function clockOf({ process, wrote }: Pick<Service, 'process' | 'wrote'>) {
  let steps = 0
  return {
    now: () => new Date(Date.now() + steps * clockStepSeconds * 1000),
    /** Advances it; resolves when the provider has confirmed that. */
    async step() {
      steps += 1
      const confirmation = `The clock is ${steps * clockStepSeconds} s ahead.`
      process.kill('SIGUSR2')
      await wrote((output) => output.includes(confirmation))
    },
  }
}

/**
 * Loaded before the provider, like an operating system with another time: at each SIGUSR2 its clock advances by half a
 * minute, so that no module has to wait until a code is old.
 */

if (isMainThread) {
  const SystemDate = Date
  let aheadMilliseconds = 0
  const now = () => SystemDate.now() + aheadMilliseconds
  globalThis.Date = new Proxy(SystemDate, {
    construct: (date, given, self) => Reflect.construct(date, given.length === 0 ? [now()] : given, self),
    get: (date, name) => (name === 'now' ? now : Reflect.get(date, name)),
  })
  process.on('SIGUSR2', () => {
    aheadMilliseconds += clockStepSeconds * 1000
    process.stdout.write(`The clock is ${aheadMilliseconds / 1000} s ahead.\n`)
  })
}
