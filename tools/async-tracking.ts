import type { AsyncHook } from 'node:async_hooks'
import { createRequire } from 'node:module'

/** A flag of Node for each process that calls `endAsyncTracking`. */
export const exposesHooks = '--expose-internals'

/**
 * Ends the tracking of every promise, with which the test runner finds the test of an error that no test awaits.
 * Tracked, an `await` costs thirty times as much. Such an error still fails the file. Tests must be declared before: a
 * declaration needs the tracking to find its suite.
 */
export function endAsyncTracking(): void {
  const internals: unknown = createRequire(import.meta.url)('internal/async_hooks')
  if (!hasHooks(internals)) throw new Error('this Node does not list its async hooks')
  const [hooks] = internals.getHookArrays()
  if (hooks.length !== 1) throw new Error(`the test runner has ${hooks.length} async hooks instead of one`)
  for (const hook of [...hooks]) hook.disable()
}

function hasHooks(internals: unknown): internals is { getHookArrays: () => [AsyncHook[], unknown] } {
  return typeof internals === 'object' && internals !== null && 'getHookArrays' in internals
}
