import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { createEventFeed, type FeedHead } from '../event-feed.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

test('AUD-14 a further follower receives the head that the others have already', async () => {
  const { kernel } = world
  await world.person()
  const feed = createEventFeed(kernel)
  const follow = async () => {
    const { promise, resolve } = Promise.withResolvers<FeedHead>()
    const unfollow = feed.follow(resolve)
    return { head: await promise, unfollow }
  }
  const first = await follow()
  const second = await follow()
  assert.ok(first.head.last > 0)
  assert.deepEqual(second.head, first.head)
  first.unfollow()
  second.unfollow()
})
