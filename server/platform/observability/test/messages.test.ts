import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSources } from '../../../../tools/sources.ts'

const root = join(import.meta.dirname, '../../../..')

/** Messages that a variable holds where they are logged: notices to owners, and objections to a header. */
const inVariables = /\bmailTo, failure: '([^']+)'|^const (?:stranger|misnamed) = '([^']+)'/gm
const logged = /\b(?:log\.(info|warn|error|fatal)|(?<!\.)warn)\([^\n]*?(?:'([^'\n]+)'|`([^`\n]+)`)\)/g

type Message = { level: string; pattern: RegExp }

/** Returns the messages in the sources. Each `${…}` stands for any words. */
function messagesOf(code: string): Message[] {
  const patternOf = (text: string) =>
    new RegExp(
      `^${text
        .split(/\$\{\w+\}/)
        .map((part) => RegExp.escape(part))
        .join('.+')}$`,
    )
  const direct = [...code.matchAll(logged)].map(([, level = 'warn', text, template]) => {
    return { level, pattern: patternOf(text ?? template ?? '') }
  })
  const indirect = [...code.matchAll(inVariables)].map(([, notice, objection]) => {
    return { level: 'warn', pattern: patternOf(notice ?? objection ?? '') }
  })
  return [...direct, ...indirect]
}

test('the documentation lists every message of the log with its level, and no other', () => {
  const page = readFileSync(join(root, 'docs/operations/observability.md'), 'utf8')
  const [, table = ''] = page.split('| `msg` | Level |')
  const rows = [...(table.split('\n\n', 1)[0] ?? '').matchAll(/^\| (`[^|]+`) \| (\w+) \|/gm)]
  const listed = rows.flatMap(([, names = '', level = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, level })),
  )
  const sources = readSources(root, ['server/**/*.ts']).filter(({ path }) => !/\/(?:test|testing)\//.test(path))
  const messages = sources.flatMap(({ code }) => messagesOf(code))
  assert.ok(messages.length > 50)
  const isOf =
    ({ level, pattern }: Message) =>
    (row: (typeof listed)[number]) =>
      row.level === level && pattern.test(row.name)
  const missing = messages.filter((message) => !listed.some(isOf(message))).map(({ pattern }) => pattern.source)
  const obsolete = listed.filter((row) => !messages.some((message) => isOf(message)(row))).map(({ name }) => name)
  assert.deepEqual({ missing, obsolete }, { missing: [], obsolete: [] })
})
