import { escapeHtml } from './html.ts'

const scriptWords = [
  ...['as', 'async', 'await', 'break', 'case', 'catch', 'class', 'const', 'continue', 'default', 'delete', 'do'],
  ...['else', 'export', 'extends', 'false', 'finally', 'for', 'from', 'function', 'if', 'import', 'in', 'instanceof'],
  ...['let', 'new', 'null', 'of', 'return', 'satisfies', 'switch', 'this', 'throw', 'true', 'try', 'type', 'typeof'],
  ...['undefined', 'while'],
]
const commands = ['curl', 'docker', 'export', 'git', 'node', 'npm', 'openssl', 'pg_dump', 'psql']
const quoted = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`

// Groups of each expression: a comment, a string, a word of the language.
// regexp: of our own documents
const scriptTokens = new RegExp(
  [String.raw`(?<c>\/\/[^\n]*)`, `(?<s>${quoted}|\`[^\`]*\`)`, String.raw`(?<k>\b(?:${scriptWords.join('|')})\b)`].join(
    '|',
  ),
  'g',
)
// regexp: of our own documents
const shellTokens = new RegExp(
  [
    String.raw`(?<c>(?<=^|\s)#[^\n]*)`,
    `(?<s>${quoted})`,
    String.raw`(?<k>(?<=^|[|;&] )(?:${commands.join('|')})\b)`,
  ].join('|'),
  'gm',
)
const dataTokens =
  // regexp: of our own documents
  /(?<k>"(?:[^"\\\n]|\\.)*"(?=\s*:)|\b(?:true|false|null)\b)|(?<s>"(?:[^"\\\n]|\\.)*")/g

const tokensOf: Record<string, RegExp> = {
  js: scriptTokens,
  ts: scriptTokens,
  sh: shellTokens,
  json: dataTokens,
}

/**
 * Marks up code as HTML: comments, strings and keywords. Other languages than JavaScript, shell and JSON remain plain.
 */
export function highlight(code: string, language: string): string {
  const tokens = tokensOf[language]
  if (!tokens) return escapeHtml(code)
  let html = ''
  let end = 0
  for (const match of code.matchAll(tokens)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? ['k']
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}

const names: Record<string, string> = {
  html: 'HTML',
  http: 'HTTP',
  ini: 'Settings',
  js: 'JavaScript',
  json: 'JSON',
  nginx: 'nginx',
  sh: 'Terminal',
  sql: 'SQL',
  ts: 'TypeScript',
  yaml: 'YAML',
}

/** Returns what the bar above a block of code says. */
export function nameOfLanguage(language: string): string {
  return names[language] ?? 'Text'
}
