import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureCost, objectionTo, repeated, type MeasuredParser } from './parser-cost.ts'

/**
 * Builds a parser that reads characters as often as `looksAt` returns for a length. That is rounded: the remainder of a
 * fraction costs a different time for each value.
 */
function parserOf(looksAt: (length: number) => number): MeasuredParser['parse'] {
  return (text) => {
    let seen = 0
    for (let look = Math.round(looksAt(text.length)); look > 0; look -= 1) seen += text.charCodeAt(look % text.length)
    return seen
  }
}

async function objection(looksAt: (length: number) => number, sizeMax: number): Promise<string | undefined> {
  const parser = { sizeMax, parse: parserOf(looksAt), shapes: {}, authenticated: true } as const
  return objectionTo(await measureCost(parser, repeated('a')), parser)
}

test('PRS-22 a parser with quadratic cost is detected', async () => {
  assert.match((await objection((length) => length ** 2, 5000)) ?? '', /times as much as for half/)
})

/**
 * Measures a parser that takes these milliseconds at the largest size, less for smaller ones by a power of the size.
 * Each call takes up to `disturbance` times as long, as on a busy machine.
 */
async function objectionOnClock(power: number, disturbance: number, longest = 30): Promise<string | undefined> {
  const sizeMax = 60_000
  let now = 0
  let state = 1
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const parse = ({ length }: string) =>
    void (now += longest * (length / sizeMax) ** power * (1 + (disturbance - 1) * random()))
  const parser = { sizeMax, parse, shapes: {}, authenticated: true } as const
  return objectionTo(await measureCost(parser, repeated('a'), () => now), parser)
}

test('PRS-22 quadratic cost is detected, fast or slow', async () => {
  for (const milliseconds of [2, 300, 3000])
    assert.match(
      (await objectionOnClock(2, 1.1, milliseconds)) ?? '',
      /times as much as for half/,
      `${milliseconds} ms`,
    )
})

for (const disturbance of [1, 1.1, 1.3]) {
  test(`PRS-22 cost of length to the power of 1.5 is detected, disturbed by up to ${disturbance}`, async () => {
    assert.match((await objectionOnClock(1.5, disturbance)) ?? '', /times as much as for half/)
  })

  test(`PRS-22 quadratic cost is detected, disturbed by up to ${(disturbance ** 2).toFixed(1)}`, async () => {
    assert.match((await objectionOnClock(2, disturbance ** 2)) ?? '', /times as much as for half/)
  })

  test(`PRS-22 linear cost is not reported, disturbed by up to ${(disturbance ** 3).toFixed(1)}`, async () => {
    assert.equal(await objectionOnClock(1, disturbance ** 3), undefined)
  })
}

test('PRS-22 a parser with linear cost is reported to anonymous callers if that is beyond the limit', async () => {
  const parser = { sizeMax: 2_000_000, parse: parserOf((length) => length * 100), shapes: {} }
  const cost = await measureCost(parser, repeated('a'))
  assert.match(objectionTo(cost, parser) ?? '', /^It takes/)
  assert.equal(objectionTo(cost, { ...parser, authenticated: true }), undefined)
})

test('PRS-22 a parser with linear cost is not reported', async () => {
  for (const sizeMax of [200_000, 2_000_000]) assert.equal(await objection((length) => length * 10, sizeMax), undefined)
})
