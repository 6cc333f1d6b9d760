import { dirname, join, normalize } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { highlight, nameOfLanguage } from './highlight.ts'
import { escapeHtml, iconOf } from './html.ts'

export type Heading = { depth: number; id: string; text: string }

/** A part of a page under a heading, for the search. The first one has no anchor. */
export type Passage = { id: string; heading: string; text: string }

export type Rendered = {
  title: string
  /** Plain text of the first paragraph. */
  lead: string
  html: string
  headings: Heading[]
  passages: Passage[]
}

/** Where the links and pictures of a document lead on the help pages. */
export type Places = {
  /** Returns the URL of a page by its path in the repository, if help shows it. */
  pageAt: (path: string) => string | undefined
  /** Returns the URL of a picture by its path in the repository, and its size in pixels. */
  pictureAt: (path: string) => { url: string; width: number; height: number }
}

/** Renders a document of `docs/`, by its path in the repository. HTML in it is shown as text. */
export function renderMarkdown(path: string, markdown: string, places: Places): Rendered {
  const marked = new Marked({ gfm: true })
  const tokens = marked.lexer(markdown)
  const headings = headingsIn(tokens)
  const ids = headings.map(({ id }) => id)
  let nth = 0
  marked.use({
    renderer: {
      heading(token) {
        const id = ids[nth++] ?? ''
        const content = this.parser.parseInline(token.tokens)
        if (token.depth === 1) return `<h1 id="${id}">${content}</h1>\n`
        const tag = `h${token.depth}`
        return `<${tag} id="${id}"><a class="anchor" href="#${id}">${content}</a></${tag}>\n`
      },
      code: ({ text, lang = '' }) => (lang === 'mermaid' ? sequenceOf(text) : codeBlock(text, lang)),
      html: ({ text }) => escapeHtml(text),
      link({ href, tokens: inside }) {
        const content = this.parser.parseInline(inside)
        const target = targetOf(path, href, places)
        if (target === undefined) return content
        const isForeign = target.startsWith('https:')
        return `<a href="${escapeHtml(target)}"${isForeign ? ' rel="noreferrer"' : ''}>${content}</a>`
      },
      image({ href, text }) {
        const { url, width, height } = places.pictureAt(normalize(join(dirname(path), href)))
        const size = `width="${width}" height="${height}"`
        return `<img src="${escapeHtml(url)}" alt="${escapeHtml(text)}" ${size} loading="lazy">`
      },
      table(token) {
        const row = (cells: Tokens.TableCell[]) => `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>`
        const label = escapeHtml(token.header.map(({ text }) => text).join(', '))
        return (
          `<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table>` +
          `<thead>${row(token.header)}</thead><tbody>${token.rows.map(row).join('')}</tbody></table></div>\n`
        )
      },
    },
  })
  const [title] = headings
  if (title?.depth !== 1) throw new Error(`${path} does not begin with a title`)
  const lead = tokens.find((token) => token.type === 'paragraph')
  return {
    title: title.text,
    lead: lead ? plainText(lead) : '',
    html: marked.parser(tokens),
    headings: headings.filter(({ depth }) => depth > 1),
    passages: passagesIn(tokens, headings),
  }
}

/** Returns the URL of a link, or undefined for one to a file that help does not show. */
function targetOf(path: string, href: string, { pageAt }: Places): string | undefined {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [file = '', fragment] = href.split('#')
  const page = pageAt(normalize(join(dirname(path), file)))
  return page === undefined || fragment === undefined ? page : `${page}#${fragment}`
}

/** Returns the headings with the IDs that GitHub gives them, so that links work in both places. */
function headingsIn(tokens: Token[]): Heading[] {
  const used = new Map<string, number>()
  return tokens.filter(isHeading).map(({ depth, text, tokens: inside }) => {
    const words = text.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    const id = words.trim().replaceAll(' ', '-')
    const earlier = used.get(id) ?? 0
    used.set(id, earlier + 1)
    return { depth, id: earlier === 0 ? id : `${id}-${earlier}`, text: inside.map(plainText).join('') }
  })
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}

function passagesIn(tokens: Token[], headings: Heading[]): Passage[] {
  const passages: Passage[] = []
  let nth = 0
  for (const token of tokens) {
    if (isHeading(token)) {
      const { depth, id, text } = headings[nth++] ?? { depth: 0, id: '', text: '' }
      passages.push({ id: depth === 1 ? '' : id, heading: text, text: '' })
      continue
    }
    const last = passages.at(-1)
    // Code is long, and people search for words.
    if (last && token.type !== 'code' && token.type !== 'space') last.text += ` ${plainText(token)}`
  }
  return passages.map(({ text, ...passage }) => ({ ...passage, text: text.replaceAll(/\s+/g, ' ').trim() }))
}

/** Returns the text of a token without markup. */
function plainText(token: Token): string {
  const inside: unknown[] = [
    ...('tokens' in token && token.tokens ? token.tokens : []),
    ...(token.type === 'list' ? (token as Tokens.List).items : []),
    ...(token.type === 'table' ? cellsOf(token as Tokens.Table) : []),
  ]
  if (inside.length === 0) return 'text' in token ? unescapeEntities(String(token.text)) : ''
  const separator = token.type === 'list' || token.type === 'table' ? ' ' : ''
  return inside.map((each) => plainText(each as Token)).join(separator)
}

function cellsOf({ header, rows }: Tokens.Table): { type: string; raw: string; tokens: Token[] }[] {
  return [header, ...rows].flat().map(({ text, tokens }) => ({ type: 'cell', raw: text, tokens }))
}

function unescapeEntities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/**
 * A block of code with its file or language (`js server.mjs`, `sh`), and a button that copies it, which the script of
 * the page shows.
 */
function codeBlock(code: string, info: string): string {
  const [kind = '', file] = info.split(' ')
  const name = escapeHtml(file ?? nameOfLanguage(kind))
  return (
    `<div class="code"><div class="bar"><span>${name}</span>` +
    `<button type="button" class="button square ghost" data-copy aria-label="Copy" hidden>${iconOf('copy')}</button>` +
    `</div><pre tabindex="0" role="region" aria-label="${name}"><code>${highlight(code, kind)}</code></pre></div>\n`
  )
}

/** Draws a sequence diagram as a list: who sends what, in order. */
function sequenceOf(diagram: string): string {
  const names = new Map<string, string>()
  const steps: string[] = []
  for (const line of diagram.split('\n')) {
    const [, short = '', name = ''] = /^\s*participant (\w+) as (.+)$/.exec(line) ?? []
    if (short !== '') names.set(short, name)
    const [, from = '', to = '', what = ''] = /^\s*(\w+)-+>>(\w+): (.+)$/.exec(line) ?? []
    if (from === '') continue
    const sides = `<b>${names.get(from) ?? from}</b> ${iconOf('arrow-right', 'sm')}<span class="vh"> to </span> `
    steps.push(`<li><span>${sides}<b>${names.get(to) ?? to}</b></span> <span>${escapeHtml(what)}</span></li>`)
  }
  if (steps.length === 0) throw new Error('Only sequence diagrams of mermaid are drawn')
  return `<ol class="sequence">${steps.join('')}</ol>\n`
}
