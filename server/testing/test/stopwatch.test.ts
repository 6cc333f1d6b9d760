import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { startStopwatch } from '../stopwatch.ts'

test('a stopwatch counts waiting and work in full, and a standstill hardly', async () => {
  using watch = startStopwatch()
  await pause(400)
  const waited = watch.milliseconds()
  assert.ok(waited > 100, `${waited} ms of waiting`)

  const before = process.cpuUsage()
  while (process.cpuUsage(before).user < 400_000);
  const worked = watch.milliseconds() - waited
  assert.ok(worked > 390, `${worked} ms of work`)

  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  const stood = watch.milliseconds() - waited - worked
  assert.ok(stood < 500, `${stood} ms of a standstill`)
})
