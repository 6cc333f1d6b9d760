import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureCost, objectionTo, repeated, type MeasuredParser } from './parser-cost.ts'

/** A parser that looks at each character as often as `looksAt` says for a length. */
function parserOf(looksAt: (length: number) => number): MeasuredParser['parse'] {
  return (text) => {
    let seen = 0
    for (let look = looksAt(text.length); look > 0; look -= 1) seen += text.charCodeAt(look % text.length)
    return seen
  }
}

async function objection(looksAt: (length: number) => number, sizeMax: number): Promise<string | undefined> {
  const parser = { sizeMax, parse: parserOf(looksAt), shapes: {}, authenticated: true } as const
  return objectionTo(await measureCost(parser, repeated('a')), true)
}

test('PRS-22 a parser that takes the square of the length is found, a fast and a slow one', async () => {
  assert.match((await objection((length) => length ** 2, 2000)) ?? '', /times as much as for half/)
  assert.match((await objection((length) => length ** 2, 10_000)) ?? '', /times as much as for half/)
})

test('PRS-22 so is one that takes its length and a half', async () => {
  assert.match((await objection((length) => length ** 1.5, 60_000)) ?? '', /times as much as for half/)
})

test('PRS-22 a parser that takes time in proportion to the length is not', async () => {
  for (const sizeMax of [200_000, 2_000_000]) assert.equal(await objection((length) => length * 10, sizeMax), undefined)
})
