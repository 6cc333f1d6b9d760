import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { pngOf } from '#testing/pictures.ts'
import { limitMemory } from '../codec/memory-limit.ts'
import { createWorkshop } from '../workshop.ts'

const pictureOf = (width: number, height: number) =>
  ({ format: 'png', bytes: new Uint8Array(pngOf(width, height)), width, height, fit: 'cover' }) as const

test('PIC-05 a picture that takes too long is given up, and the service answers meanwhile', async () => {
  const workshop = createWorkshop(1)
  let turns = 0
  const turning = setInterval(() => (turns += 1), 5)
  const late = { message: 'took too long', isOverload: true }
  await assert.rejects(workshop.render('ada', pictureOf(4000, 4000)), late)
  clearInterval(turning)
  assert.ok(turns >= 1)
  const usual = createWorkshop()
  assert.equal(Object.keys(await usual.render('ada', pictureOf(64, 64))).length, 3)
})

test('PIC-02 a picture whose decoder finds another size than its header is given up', async () => {
  const lying = { ...pictureOf(100, 100), width: 64, height: 64 }
  await assert.rejects(createWorkshop().render('ada', lying), /another size/)
})

test('PIC-06 who has used the least time is next, and not everybody can wait', async () => {
  const workshop = createWorkshop()
  const done: string[] = []
  const render = async (owner: string, side: number) => {
    await workshop.render(owner, pictureOf(side, side))
    done.push(owner)
  }
  await Promise.all([render('eve', 2000), render('eve', 64), render('eve', 64), render('ada', 64)])
  assert.deepEqual(done, ['eve', 'ada', 'eve', 'eve'])

  const many = Array.from({ length: 40 }, (_, nth) => workshop.render(`user ${nth}`, pictureOf(64, 64)))
  const results = await Promise.allSettled(many)
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 7)
  for (const { reason } of refused) assert.equal(reason.isOverload, true)
})

test('PIC-19 the pictures that one user gives up take no places of others', async () => {
  const workshop = createWorkshop()
  const first = workshop.render('eve', pictureOf(1000, 1000))
  const more = Array.from({ length: 10 }, () => workshop.render('eve', pictureOf(64, 64)))
  const refused = (await Promise.allSettled([...more, first])).filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 6)
  for (const { reason } of refused) assert.equal(reason.isOverload, true)
})

test('PIC-20 a thread that has ended keeps no later picture waiting', { timeout: 30_000 }, async () => {
  const started = new Promise<Worker>((resolve) => process.once('worker', resolve))
  const workshop = createWorkshop()
  await workshop.render('ada', pictureOf(64, 64))
  await (await started).terminate()
  assert.equal(Object.keys(await workshop.render('ada', pictureOf(64, 64))).length, 3)
})

test('PIC-17 the memory of a codec cannot grow beyond its limit', async () => {
  const file = new URL(import.meta.resolve('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'))
  const bytes = await readFile(file)
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(limitMemory(bytes, 100)), importsOf(bytes))
  const { memory } = exports
  assert.ok(typeof memory === 'object' && memory !== null && 'grow' in memory && typeof memory.grow === 'function')
  const { grow } = memory
  assert.throws(() => Reflect.apply(grow, memory, [100]), RangeError)
  assert.throws(() => limitMemory(bytes, 1), /another form/)
  assert.throws(() => limitMemory(bytes.subarray(0, 8), 100), /no memory/)
})

/** Functions that a module imports, which nothing here calls. */
function importsOf(bytes: Buffer): WebAssembly.Imports {
  const imports: WebAssembly.Imports = {}
  for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes)))
    imports[module] = { ...imports[module], [name]: () => 0 }
  return imports
}
