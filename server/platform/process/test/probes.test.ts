import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { createWorld } from '#testing/world.ts'

test('LOD-34 thousands of concurrent readiness checks cause one database query', async (t) => {
  let requested = 0
  const counting = (pool: pg.Pool) =>
    new Proxy(pool, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (name === 'query' && given[0] === 'select 1') requested += 1
          return Reflect.apply(value, target, given)
        }
      },
    })
  const world = await createWorld({ between: counting })
  t.after(() => world.close())
  const hosts = [world.api, world.auth, world.business]
  const answers = await Promise.all(
    Array.from({ length: 3000 }, async (_, nth) => (hosts[nth % 3] ?? world.api).inject({ url: '/readyz' })),
  )
  assert.ok(answers.every((answer) => answer.statusCode === 200))
  // A result is valid for a second, and so many requests may take longer.
  assert.ok(requested >= 1 && requested <= 20, `${requested} times`)
})
