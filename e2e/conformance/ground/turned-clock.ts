/**
 * Loaded before the provider, as an operating system that is told another time: at each SIGUSR2 its clock goes ahead by
 * half a minute, so that no module has to wait for a code to grow old.
 */
import { isMainThread } from 'node:worker_threads'
import { clockStepSeconds } from './clock-step.ts'

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
