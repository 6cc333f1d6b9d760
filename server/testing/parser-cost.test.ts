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

test('PRS-22 a parser with quadratic cost is detected, fast or slow', async () => {
  assert.match((await objection((length) => length ** 2, 2000)) ?? '', /times as much as for half/)
  assert.match((await objection((length) => length ** 2, 5000)) ?? '', /times as much as for half/)
  assert.match((await objection((length) => length ** 2, 12_000)) ?? '', /times as much as for half/)
})

test('PRS-22 a parser with cost of length to the power of 1.5 is detected', async () => {
  assert.match((await objection((length) => length ** 1.5, 60_000)) ?? '', /times as much as for half/)
})

test('PRS-22 a parser with linear cost is reported to anonymous callers if that is beyond the limit', async () => {
  const parser = { sizeMax: 2_000_000, parse: parserOf((length) => length * 300), shapes: {} }
  const cost = await measureCost(parser, repeated('a'))
  assert.match(objectionTo(cost, parser) ?? '', /^It takes/)
  assert.equal(objectionTo(cost, { ...parser, authenticated: true }), undefined)
})

test('PRS-22 a parser with linear cost is not reported', async () => {
  for (const sizeMax of [200_000, 2_000_000]) assert.equal(await objection((length) => length * 10, sizeMax), undefined)
})
