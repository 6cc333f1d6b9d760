import type { Service } from '../../../server/testing/service.ts'

/** How far one step takes the provider's clock: more than the half minute after which a code is tried again. */
export const clockStepSeconds = 31

/** What starts a provider whose clock can be stepped. */
export const steppable = { NODE_OPTIONS: `--import=${new URL('./turned-clock.ts', import.meta.url).href}` }

/** The clock of a provider that was started `steppable`. */
export function clockOf({ process, wrote }: Pick<Service, 'process' | 'wrote'>) {
  let steps = 0
  return {
    now: () => new Date(Date.now() + steps * clockStepSeconds * 1000),
    /** Steps it ahead; resolves once the provider says so. */
    async step() {
      steps += 1
      const told = `The clock is ${steps * clockStepSeconds} s ahead.`
      process.kill('SIGUSR2')
      await wrote((output) => output.includes(told))
    },
  }
}
