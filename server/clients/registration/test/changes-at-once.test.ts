import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createWorld, type Person } from '#testing/world.ts'

/** Configuration of several processes with a shared database, in which all must apply a change. */
const shared = {
  DEVELOPER_PORTAL: 'on',
  DATABASE_URL: 'postgres://user:password@127.0.0.1/countersign',
  SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
}
const atOnceMax = 8
const admittedMax = 500

async function worldOfDevelopers() {
  const world = await createWorld({ environment: shared })
  const register = async (person: Person) => {
    const payload = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
    const created = await world.api.inject({
      method: 'POST',
      url: '/api/developer/apps',
      headers: person.headers,
      payload,
    })
    assert.equal(created.statusCode, 201, created.body)
    return { person, clientId: created.json<{ clientId: string }>().clientId }
  }
  const rotate = async ({ person, clientId }: Awaited<ReturnType<typeof register>>) =>
    world.api.inject({
      method: 'POST',
      url: `/api/developer/apps/${clientId}/secret`,
      headers: person.headers,
      payload: {},
    })
  return { world, register, rotate }
}

test('LOD-31 changes that wait for all processes do not block other requests, however many they are', async (t) => {
  const { world, register, rotate } = await worldOfDevelopers()
  t.after(() => world.close())
  const developers = []
  for (let nth = 0; nth < admittedMax / atOnceMax; nth += 1) developers.push(await register(await world.person()))

  const answered = new Set<object>()
  const changers = developers.flatMap((each) => Array.from({ length: atOnceMax }, () => each)).slice(0, admittedMax)
  const changes = changers.map((each) => rotate(each).finally(() => answered.add(each)))
  // This request does not need the database, for which others already wait.
  const isRefused = async () => (await world.api.inject({ url: '/api/auth/session' })).statusCode === 503
  while (!(await isRefused())) await turn()
  // Once the first changes only wait, other requests are admitted.
  while ((await isRefused()) && answered.size === 0) await turn()
  assert.equal(answered.size, 0, 'other requests are answered before the first change is acknowledged')
  // On a busy machine some of them wait too long for the database.
  for (const { statusCode } of await Promise.all(changes)) assert.ok([201, 503].includes(statusCode))
})

test('LOD-33 a user has few concurrent changes, and as many again when they have finished', async (t) => {
  const { world, register, rotate } = await worldOfDevelopers()
  t.after(() => world.close())
  const [eager, other] = [await register(await world.person()), await register(await world.person())]
  const changes = Array.from({ length: atOnceMax + 1 }, () => rotate(eager))
  const ofOther = rotate(other)
  const answers = await Promise.all(changes)
  const statuses = answers.map(({ statusCode }) => statusCode)
  assert.deepEqual(statuses.toSorted(), [...Array<number>(atOnceMax).fill(201), 429])
  const refused = answers.find(({ statusCode }) => statusCode === 429)
  assert.equal(refused?.json().error, 'rate_limited')
  assert.equal(refused?.headers['retry-after'], '5')
  assert.equal((await ofOther).statusCode, 201)
  assert.equal((await rotate(eager)).statusCode, 201)
})
