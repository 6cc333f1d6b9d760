/**
 * Checks every regular expression of the product with `recheck`: it reports those that an input can make slow, and
 * those that it cannot analyze. It covers literals, `new RegExp`, and the patterns of schemas. An exception is a
 * comment on the line before: `// regexp: ` and the reason why no input makes it slow. `npm run check` runs it.
 *
 * `regexps.safe.txt` lists the expressions that this version of recheck found safe, so that a check on another machine
 * analyzes only new ones. `--write` writes it. A missing expression only costs time.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { check } from 'recheck'
import recheck from 'recheck/package.json' with { type: 'json' }
import { parseSync } from 'vite'
import { readSources, type Source } from './sources.ts'

/** A regular expression and its location. One that is built at run time has no pattern. */
type Found = { place: string; pattern: string | undefined; flags: string; isExcepted: boolean }
type Verdict = { status: 'safe' | 'vulnerable' | 'unknown'; reason: string }

/** The used part of a node of a syntax tree (ESTree). */
type Node = { type: string; start: number; [part: string]: unknown }

const exception = /^\s*\/\/ regexp: \S/
const timeoutMilliseconds = 20_000

/** Selects its backend in JavaScript, because the others are programs or need Java. It reads this at its first call. */
process.env['RECHECK_BACKEND'] = 'pure'

/**
 * Returns the problems of the regular expressions in these files, one line each, and the safe expressions. The files at
 * `listPath` and `cachePath` hold expressions that were found safe before; new ones are added to the latter.
 */
export async function findVulnerable(sources: Source[], cachePath?: string, listPath?: string) {
  const trees = sources.map((source) => ({ source, program: readTree(source) }))
  const constants = new Map(trees.flatMap(({ program }) => constantsIn(program)))
  const all = trees.flatMap(({ source, program }) => regexpsIn(source, program, constants))
  const checked = all.filter(({ isExcepted }) => !isExcepted)
  const verdicts = await checkAll(checked, cachePath, listPath)
  const wrong = checked.flatMap((found) => {
    const { status, reason } = verdicts.get(shown(found)) ?? { status: 'unknown', reason: 'it is not constant' }
    return status === 'safe' ? [] : [`${found.place} ${shown(found)} is ${status}: ${reason}`]
  })
  const safe = new Set(checked.map(shown).filter((key) => verdicts.get(key)?.status === 'safe'))
  return { count: all.length, wrong, safe: [...safe].toSorted() }
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

/** Returns the values of constants by name. Constants that are parts of patterns have unique names. */
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

/** Returns the text of a constant expression, or undefined. */
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

/** Returns the results by expression. Those found safe before are not checked again. */
async function checkAll(found: Found[], cachePath?: string, listPath?: string): Promise<Map<string, Verdict>> {
  const safe = new Set([cachePath, listPath].flatMap((path) => (path === undefined ? [] : readSafe(path))))
  const unknown = new Map(found.map((one) => [shown(one), one]))
  for (const known of safe) unknown.delete(known)
  const verdicts = new Map([...safe].map((known): [string, Verdict] => [known, { status: 'safe', reason: '' }]))
  for (const [key, { pattern, flags }] of unknown)
    if (pattern !== undefined) verdicts.set(key, await checkPattern(pattern, flags))
  if (cachePath !== undefined && unknown.size > 0) {
    mkdirSync(dirname(cachePath), { recursive: true })
    writeSafe(
      cachePath,
      [...verdicts].flatMap(([key, { status }]) => (status === 'safe' ? [key] : [])),
    )
  }
  return verdicts
}

async function checkPattern(pattern: string, flags: string): Promise<Verdict> {
  const result = await check(...asKnown(pattern, flags), { timeout: timeoutMilliseconds })
  return { status: result.status, reason: result.status === 'unknown' ? result.error.kind : result.complexity.summary }
}

const heading = `# found safe by recheck ${recheck.version}`

/** The expressions of a list that this version of the checker has written. */
function readSafe(path: string): string[] {
  const [first, ...expressions] = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  return first === heading ? expressions : []
}

function writeSafe(path: string, expressions: string[]): void {
  writeFileSync(path, `${[heading, ...expressions].join('\n')}\n`)
}

/**
 * Returns a pattern as the checker supports it, without the flag `v`. A class then also matches what it excludes by
 * `--`, which can only make it more ambiguous.
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
  const files = readSources(root, ['{server,protocol,keys,saml,sdk,web,cli}/**/*.{ts,tsx}'])
  const ofTests = /\.test\.tsx?$|\/testing\//
  const sources = files.filter(({ path }) => !ofTests.test(path))
  const listPath = join(import.meta.dirname, 'regexps.safe.txt')
  const cachePath = join(root, 'node_modules/.cache/safe-regexps')
  const { count, wrong, safe } = await findVulnerable(sources, cachePath, listPath)
  if (process.argv.includes('--write')) writeSafe(listPath, safe)
  if (count === 0) wrong.push('No regular expression was found, so nothing was checked')
  for (const fault of wrong) console.error(fault)
  console.log(`${count} regular expressions, ${wrong.length === 0 ? 'none' : wrong.length} that an input may make slow`)
  if (wrong.length > 0) process.exitCode = 1
}
