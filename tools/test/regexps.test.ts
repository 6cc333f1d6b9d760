import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findVulnerable } from '../regexps.ts'

const wrongIn = async (text: string) => (await findVulnerable([{ path: 'server/a.ts', text, code: text }])).wrong

test('PRS-12 a regular expression that an input can make slow is found, however it is written', async () => {
  const slow = {
    'a literal': String.raw`const found = text.replaceAll(/<!--[^]*?-->/g, '')`,
    'nested quantifiers': String.raw`const found = /^(a+)+$/.test(text)`,
    'a constructor': String.raw`const part = 'a*'
      const found = new RegExp(${'`^(${part})*$`'}, 'u')`,
    'parts that are joined': String.raw`const found = new RegExp([String.raw${'`^(\\s+`'}, '|x)*$'].join(''), 'v')`,
    'a pattern of a schema': String.raw`const Slug = Type.String({ pattern: '^(?:[a-z]+-?)*$' })`,
    'a class that leaves out characters': String.raw`const found = /^(?:[\p{L}--[a-z]]+)*$/v`,
  }
  for (const [what, text] of Object.entries(slow)) {
    const wrong = await wrongIn(text)
    assert.equal(wrong.length, 1, what)
    assert.match(wrong[0] ?? '', /^server\/a\.ts:\d .+ is vulnerable: /, what)
  }
})

test('PRS-12 an expression built from input needs a reason, and a linear one does not', async () => {
  const dynamic = 'const found = new RegExp(name)'
  assert.match((await wrongIn(dynamic))[0] ?? '', /is unknown: it is not constant/)
  assert.deepEqual(await wrongIn(`// regexp: of one character\n${dynamic}`), [])
  assert.equal((await wrongIn(`// regexp:\n${dynamic}`)).length, 1, 'a reason is given')
  assert.deepEqual(await wrongIn(String.raw`const found = /^[a-z]+(?:-[a-z]+)*$/.test(a / b)`), [])
})
