import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { createWorld } from '#testing/world.ts'

test('LOD-34 thousands who ask whether the service is ready ask the database once', async (t) => {
  let asked = 0
  const counting = (pool: pg.Pool) =>
    new Proxy(pool, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (name === 'query' && given[0] === 'select 1') asked += 1
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
  // It is good for a second, and so many requests may take longer.
  assert.ok(asked >= 1 && asked <= 20, `${asked} times`)
})
