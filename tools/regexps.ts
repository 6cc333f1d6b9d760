/**
 * Checks every regular expression of the product with `recheck`: one that an input can make slow is a fault, and so is
 * one of which that cannot be ruled out. Covers literals, `new RegExp`, and the patterns of schemas. An exception is a
 * comment on the line before, `// regexp: ` and the reason why no input makes it slow. `npm run check` runs it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { check } from 'recheck'
import { parseSync } from 'vite'
import { readSources, type Source } from './sources.ts'

/** A regular expression and where it is. Without a pattern it is put together at run time. */
type Found = { place: string; pattern: string | undefined; flags: string; isExcepted: boolean }
type Verdict = { status: 'safe' | 'vulnerable' | 'unknown'; reason: string }

/** Node of a syntax tree (ESTree), as far as it is looked at here. */
type Node = { type: string; start: number; [part: string]: unknown }

const exception = /^\s*\/\/ regexp: \S/
const timeoutMilliseconds = 20_000

/** Its backend in JavaScript: the others are programs, or take Java. It reads this when it is first asked. */
process.env['RECHECK_BACKEND'] = 'pure'

/** What is wrong with the regular expressions of these files, one line each. */
export async function findVulnerable(sources: Source[], cachePath?: string) {
  const trees = sources.map((source) => ({ source, program: readTree(source) }))
  const constants = new Map(trees.flatMap(({ program }) => constantsIn(program)))
  const all = trees.flatMap(({ source, program }) => regexpsIn(source, program, constants))
  const checked = all.filter(({ isExcepted }) => !isExcepted)
  const verdicts = await judge(checked, cachePath)
  const wrong = checked.flatMap((found) => {
    const { status, reason } = verdicts.get(shown(found)) ?? { status: 'unknown', reason: 'it is not constant' }
    return status === 'safe' ? [] : [`${found.place} ${shown(found)} is ${status}: ${reason}`]
  })
  return { count: all.length, wrong }
}

function shown({ pattern = '…', flags }: Found): string {
  return `/${pattern}/${flags}`
}

function readTree({ path, text }: Source): Node {
  const { program, errors } = parseSync(path, text)
  if (errors[0] || !isNode(program)) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`)
  return program
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function everyNodeOf(node: unknown): Node[] {
  if (Array.isArray(node)) return node.flatMap(everyNodeOf)
  if (typeof node !== 'object' || node === null) return []
  return [...(isNode(node) ? [node] : []), ...Object.values(node).flatMap(everyNodeOf)]
}

/** What constants are bound to, by name: those that make up patterns have names of their own. */
function constantsIn(program: Node): [string, Node][] {
  return everyNodeOf(program).flatMap(({ type, id, init }) =>
    type === 'VariableDeclarator' && isNode(id) && isNode(init) && typeof id['name'] === 'string'
      ? [[id['name'], init] as [string, Node]]
      : [],
  )
}

function regexpsIn({ path, text }: Source, program: Node, constants: Map<string, Node>): Found[] {
  const own = new Map([...constants, ...constantsIn(program)])
  const lines = text.split('\n')
  return everyNodeOf(program).flatMap((node) => {
    const found = regexpOf(node, own)
    if (!found) return []
    const line = text.slice(0, node.start).split('\n').length
    return [{ ...found, place: `${path}:${line}`, isExcepted: exception.test(lines[line - 2] ?? '') }]
  })
}

function regexpOf(node: Node, constants: Map<string, Node>): Pick<Found, 'pattern' | 'flags'> | undefined {
  const { type, regex, callee, arguments: given, key, value } = node
  if (type === 'Literal' && isLiteral(regex)) return regex
  if ((type === 'NewExpression' || type === 'CallExpression') && nameOf(callee) === 'RegExp' && Array.isArray(given))
    return { pattern: textOf(given[0], constants), flags: given[1] ? (textOf(given[1], constants) ?? '') : '' }
  // Ajv compiles the patterns of schemas with this flag.
  if (type === 'Property' && nameOf(key) === 'pattern' && isNode(value) && !/Function|Regex/.test(value.type)) {
    const pattern = textOf(value, constants)
    return pattern === undefined ? undefined : { pattern, flags: 'u' }
  }
  return undefined
}

function isLiteral(regex: unknown): regex is { pattern: string; flags: string } {
  return typeof regex === 'object' && regex !== null && 'pattern' in regex && 'flags' in regex
}

function nameOf(node: unknown): unknown {
  return isNode(node) && node.type === 'Identifier' ? node['name'] : undefined
}

/** The text that an expression of constants is; undefined for any other. */
function textOf(node: unknown, constants: Map<string, Node>): string | undefined {
  if (!isNode(node)) return undefined
  const joined = (nodes: unknown) => {
    const parts = Array.isArray(nodes) ? nodes.map((each) => textOf(each, constants)) : [undefined]
    return parts.includes(undefined) ? undefined : parts.join('')
  }
  switch (node.type) {
    case 'Literal':
      if (isLiteral(node['regex'])) return node['regex'].pattern
      return typeof node['value'] === 'string' ? node['value'] : undefined
    case 'Identifier':
      return textOf(constants.get(String(node['name'])), constants)
    case 'BinaryExpression':
      return node['operator'] === '+' ? joined([node['left'], node['right']]) : undefined
    case 'TemplateLiteral':
      return interleaved(node, 'cooked', joined)
    case 'TaggedTemplateExpression':
      return isNode(node['quasi']) ? interleaved(node['quasi'], 'raw', joined) : undefined
    case 'NewExpression':
      return Array.isArray(node['arguments']) ? textOf(node['arguments'][0], constants) : undefined
    case 'MemberExpression':
      return nameOf(node['property']) === 'source' ? textOf(node['object'], constants) : undefined
    case 'CallExpression':
      return joinedList(node, joined)
    default:
      return undefined
  }
}

function interleaved(
  { quasis, expressions }: Node,
  kind: 'cooked' | 'raw',
  joined: (nodes: unknown) => string | undefined,
): string | undefined {
  if (!Array.isArray(quasis) || !Array.isArray(expressions)) return undefined
  const texts = quasis.map((quasi: unknown): Node => {
    const value = isNode(quasi) && isText(quasi['value']) ? quasi['value'][kind] : undefined
    return { type: 'Literal', start: 0, value }
  })
  return joined(texts.flatMap((quasi, place) => [quasi, expressions[place]].filter(isNode)))
}

function isText(value: unknown): value is { cooked: string; raw: string } {
  return typeof value === 'object' && value !== null && 'cooked' in value && 'raw' in value
}

/** `[…].join('')` */
function joinedList({ callee }: Node, joined: (nodes: unknown) => string | undefined): string | undefined {
  if (!isNode(callee) || nameOf(callee['property']) !== 'join') return undefined
  const { object } = callee
  return isNode(object) && object.type === 'ArrayExpression' ? joined(object['elements']) : undefined
}

/** The verdicts by expression. Of what was found safe before, nothing is asked again. */
async function judge(found: Found[], cachePath: string | undefined): Promise<Map<string, Verdict>> {
  const safe = new Set(cachePath === undefined ? [] : readLines(cachePath))
  const unknown = new Map(found.map((one) => [shown(one), one]))
  for (const known of safe) unknown.delete(known)
  const verdicts = new Map([...safe].map((known): [string, Verdict] => [known, { status: 'safe', reason: '' }]))
  for (const [key, { pattern, flags }] of unknown)
    if (pattern !== undefined) verdicts.set(key, await askChecker(pattern, flags))
  if (cachePath !== undefined && unknown.size > 0) {
    mkdirSync(dirname(cachePath), { recursive: true })
    writeFileSync(cachePath, [...verdicts].flatMap(([key, { status }]) => (status === 'safe' ? [key] : [])).join('\n'))
  }
  return verdicts
}

async function askChecker(pattern: string, flags: string): Promise<Verdict> {
  const result = await check(...asKnown(pattern, flags), { timeout: timeoutMilliseconds })
  return { status: result.status, reason: result.status === 'unknown' ? result.error.kind : result.complexity.summary }
}

function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
}

/**
 * A pattern as the checker knows it, which has no flag `v`. What a class leaves out again (`--`) it then matches too:
 * it can only be more ambiguous.
 */
function asKnown(pattern: string, flags: string): [pattern: string, flags: string] {
  if (!flags.includes('v')) return [pattern, flags]
  const widened = pattern
    .replaceAll(/(?:--|&&)(?:\[(?:[^[\]]|\[[^\]]*\])*\]|\\[pP]\{[^}]*\}|\\x..)/g, '')
    .replaceAll(/\[\[([^[\]]*)\]\]/g, '[$1]')
    .replaceAll(String.raw`\p{RGI_Emoji}`, String.raw`\p{Emoji}`)
  return [widened, flags.replace('v', 'u')]
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const files = readSources(root, ['{server,protocol,keys,sdk,web,cli}/**/*.{ts,tsx}'])
  const ofTests = /\.test\.tsx?$|\/(?:testing|corpus)\//
  const sources = files.filter(({ path }) => !ofTests.test(path))
  const { count, wrong } = await findVulnerable(sources, join(root, 'node_modules/.cache/safe-regexps'))
  if (count === 0) wrong.push('No regular expression was found, so nothing was checked')
  for (const fault of wrong) console.error(fault)
  console.log(`${count} regular expressions, ${wrong.length === 0 ? 'none' : wrong.length} that an input may make slow`)
  if (wrong.length > 0) process.exitCode = 1
}
