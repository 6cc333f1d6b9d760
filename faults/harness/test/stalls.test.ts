import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

const stopMilliseconds = 1000
/** The thread that notes stalls sleeps for ten milliseconds. */
const inaccuracyMilliseconds = 50

/** Starts a process that measures this work. It sends a message at the start, and then its measurements. */
function startMeasuring(t: TestContext, work: string) {
  const program = `
    import { timed } from ${JSON.stringify(import.meta.resolve('../stalls.ts'))}
    const startedAt = performance.now()
    const { milliseconds } = await timed(async () => {
      process.send('begins')
      ${work}
    })
    process.send({ elapsed: performance.now() - startedAt, milliseconds }, () => process.disconnect())`
  const words = ['--input-type=module', '--eval', program]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('the time in which a process is stopped is not a part of what its work takes', async (t) => {
  const child = startMeasuring(t, "await new Promise((resolve) => process.once('message', resolve))")
  await once(child, 'message')
  child.kill('SIGSTOP')
  const stoppedAt = performance.now()
  await wait(stopMilliseconds)
  const stopped = performance.now() - stoppedAt
  child.kill('SIGCONT')
  child.send('end')
  const [{ elapsed, milliseconds }] = await once(child, 'message')
  assert.ok(elapsed > stopped)
  assert.ok(elapsed - milliseconds > stopped - inaccuracyMilliseconds, `${milliseconds} of ${elapsed} ms`)
})

test('the time in which a process works, and its event loop waits, is a part of what its work takes', async (t) => {
  const usedMilliseconds = 500
  const used = '(({ user, system }) => (user + system) / 1000)(process.cpuUsage(begun))'
  const child = startMeasuring(t, `const begun = process.cpuUsage(); while (${used} < ${usedMilliseconds});`)
  await once(child, 'message')
  const [{ milliseconds }] = await once(child, 'message')
  assert.ok(milliseconds > usedMilliseconds / 2, `${milliseconds} ms`)
})
