import { escapeHtml } from './html.ts'

/** Groups: a comment, a string, a word of the language. */
const scriptTokens =
  // regexp: of our own documents
  /(?<c>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<s>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`)|(?<k>\b(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|let|new|null|of|return|satisfies|switch|this|throw|true|try|type|typeof|undefined|while)\b)/g
const shellTokens =
  // regexp: of our own documents
  /(?<c>(?<=^|\s)#[^\n]*)|(?<s>'[^'\n]*'|"(?:[^"\\\n]|\\.)*")|(?<k>(?<=^|[|;&] )(?:curl|docker|export|git|node|npm|npx|openssl|pg_dump|psql)\b)/gm
const dataTokens =
  // regexp: of our own documents
  /(?<k>"(?:[^"\\\n]|\\.)*"(?=\s*:)|\b(?:true|false|null)\b)|(?<s>"(?:[^"\\\n]|\\.)*")/g

const tokensOf: Record<string, RegExp> = {
  js: scriptTokens,
  ts: scriptTokens,
  sh: shellTokens,
  json: dataTokens,
}

/** Marks up code as HTML: comments, strings and keywords. Other languages than JavaScript, shell and JSON remain plain. */
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
