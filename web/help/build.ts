/** Builds the help pages from `docs/`, and the frame of the API reference, for the server to send. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { arrangeDocuments, type Section } from './contents.ts'
import { escapeHtml, iconOf, join as joined } from './html.ts'
import { renderMarkdown, type Heading, type Rendered } from './markdown.ts'
import { searchIndexOf } from './search-index.ts'
import { ownMark, pageOf, referenceSlots, slots, type Assets, type Frame } from './shell.ts'

type BuiltFile = { path: string; content: string | Uint8Array }
type Document = Rendered & { name: string; url: string }
type Manifest = Record<string, Assets>

const docs = join(import.meta.dirname, '../../docs')

/** Pictures and the search index, which browsers load as assets, and the files that the server reads. */
export type Help = { assets: BuiltFile[]; files: BuiltFile[] }

/** Builds everything. The pages load the styles that all other pages share. */
export function buildHelp(manifest: Manifest): Help {
  const names = globSync('**/*.md', { cwd: docs }).map((path) =>
    path.replaceAll('\\', '/').slice(0, -extname(path).length),
  )
  const sections = arrangeDocuments(names)
  const shown = sections.flatMap(({ documents }) => documents)
  const pictures = new Map<string, BuiltFile>()
  const places = {
    pageAt(path: string) {
      const name = path.replace(/^docs\//, '').replace(/\.md$/, '')
      if (/^docs(?:\/README\.md|\/)?$/.test(path)) return '/help'
      return path.startsWith('docs/') && shown.includes(name) ? urlOf(name) : undefined
    },
    pictureAt(path: string) {
      const content = readFileSync(join(dirname(docs), path))
      const picture = pictures.get(path) ?? hashed(basename(path), content)
      pictures.set(path, picture)
      return { url: `/${picture.path}`, ...sizeOf(path, content) }
    },
  }
  const documents = shown.map((name): Document => {
    const markdown = readFileSync(join(docs, `${name}.md`), 'utf8')
    return { name, url: urlOf(name), ...renderMarkdown(`docs/${name}.md`, markdown, places) }
  })
  const searched = documents.map((each) => ({ ...each, title: escapeHtml(each.title) }))
  const index = hashed('help-index.json', JSON.stringify(searchIndexOf(documents)))
  const assets = assetsOf(manifest)
  const frame = (own: Pick<Frame, 'title' | 'main'> & Partial<Frame>, current?: string) =>
    pageOf({ area: 'help', index: `/${index.path}`, rail: railOf(sections, searched, current), ...own }, assets)

  const start = frame({ title: 'Help', main: startOf(sections, searched) })
  const pages = searched.map((each, nth) => ({
    url: each.url,
    file: `${each.name.replaceAll('/', '.')}.html`,
    html: frame(
      {
        title: each.title,
        description: each.lead,
        main: articleOf(each, sections, searched[nth - 1], searched[nth + 1]),
      },
      each.name,
    ),
  }))
  const reference = frame({ area: 'reference', index: '/docs/search.json', ...referenceSlots })
  const files = [
    { path: 'help/index.html', content: start },
    ...pages.map(({ file, html }) => ({ path: `help/${file}`, content: html })),
    { path: 'help/reference.html', content: reference },
    { path: 'help/mark.svg', content: ownMark },
  ]
  const list = [{ url: '/help', file: 'index.html' }, ...pages.map(({ url, file }) => ({ url, file }))]
  return {
    assets: [index, ...pictures.values()],
    files: [...files, { path: 'help/pages.json', content: JSON.stringify(list) }],
  }
}

function urlOf(name: string): string {
  return `/help/${name}`
}

/** The styles that every page loads, and the script and style of the help pages. */
function assetsOf({ help: own, ...others }: Manifest): Assets {
  if (!own) throw new Error('pages/help is not built')
  const [first = { styles: [] }, ...rest] = Object.values(others)
  const shared = first.styles.filter((style) => rest.every(({ styles }) => styles.includes(style)))
  return { ...own, styles: [...new Set([...shared, ...own.styles])] }
}

/** Returns the size of a PNG (W3C PNG §11.2.1) or SVG, so that a page keeps the room until it is there. */
function sizeOf(path: string, content: Buffer): { width: number; height: number } {
  if (path.endsWith('.png')) return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) }
  const text = content.toString()
  const [width, height] = [/ width="(\d+)"/, / height="(\d+)"/].map((size) => size.exec(text)?.[1])
  if (width === undefined || height === undefined) throw new Error(`${path} has no size`)
  return { width: Number(width), height: Number(height) }
}

/** Names a file by its content, so that browsers keep it for as long as they like. */
function hashed(name: string, content: string | Uint8Array): BuiltFile {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 8)
  const extension = extname(name)
  return { path: `assets/${basename(name, extension)}-${digest}${extension}`, content }
}

function railOf(sections: Section[], documents: Document[], current?: string): string {
  const items = sections.flatMap(({ title, documents: names }) => [
    `<li class="rail-title">${title}</li>`,
    ...names.map((name) => {
      const { url, title: page } = found(documents, name)
      return `<li><a href="${url}"${name === current ? ' aria-current="page"' : ''}>${page}</a></li>`
    }),
  ])
  return `<ul class="rail-list">${items.join('')}</ul>`
}

function startOf(sections: Section[], documents: Document[]): string {
  const cards = sections.map(({ title, documents: names }) => {
    const links = names.map((name) => {
      const { url, title: page } = found(documents, name)
      return `<li><a href="${url}">${page}</a></li>`
    })
    return `<section class="card stack"><h2>${title}</h2><ul class="help-links">${links.join('')}</ul></section>`
  })
  return joined(
    '<div class="page-head"><div><h1>Help</h1>',
    `<p class="lead">Guides and reference for people who use, build on and run ${slots.brand}.</p></div></div>`,
    `<div class="help-cards">${cards.join('')}</div>`,
    '<section class="card stack"><h2>API reference</h2>',
    '<p>Every endpoint with its parameters, bodies and responses, and the errors that all of them have: ',
    `<a href="${slots.api}/docs">API reference</a>.</p></section>`,
  )
}

function articleOf(document: Document, sections: Section[], before?: Document, after?: Document): string {
  const { name, html, headings } = document
  const section = sections.find(({ documents }) => documents.includes(name))?.title ?? ''
  const article = isForOperators(name) ? html : withOwnUrls(html)
  const contents = contentsOf(headings)
  const aside =
    contents !== '' && `<nav class="on-page" aria-label="On this page"><h2>On this page</h2>${contents}</nav>`
  const folded =
    contents !== '' && `<details class="on-page-folded"><summary>On this page</summary>${contents}</details>`
  return joined(
    `<div class="document"><div class="document-body">`,
    `<p class="crumbs"><a href="/help">Help</a> <span aria-hidden="true">/</span> <span>${section}</span></p>`,
    `<article class="prose">${article.replace('</h1>', `</h1>${folded || ''}`)}</article>`,
    '<nav class="neighbours" aria-label="Neighbouring pages">',
    before && neighbour('prev', before),
    after && neighbour('next', after),
    '</nav></div>',
    aside,
    '</div>',
  )
}

function neighbour(rel: 'prev' | 'next', { url, title }: Document): string {
  const name = `<span><small>${rel === 'prev' ? 'Previous' : 'Next'}</small>${title}</span>`
  const content = rel === 'prev' ? iconOf('arrow-left') + name : name + iconOf('arrow-right')
  return `<a href="${url}" rel="${rel}">${content}</a>`
}

function contentsOf(headings: Heading[]): string {
  const shown = headings.filter(({ depth }) => depth <= 3)
  if (shown.length < 2) return ''
  const items = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  )
  return `<ul class="on-page-list">${items.join('')}</ul>`
}

/** They say which values are defaults. */
function isForOperators(name: string): boolean {
  return name.startsWith('operations/')
}

/** The documents name the addresses of a service on the reader's computer: this one has its own. */
function withOwnUrls(html: string): string {
  return html
    .replaceAll('http://localhost:4400', slots.api)
    .replaceAll('http://localhost:4401', slots.auth)
    .replaceAll('http://localhost:4402', slots.business)
}

function found(documents: Document[], name: string): Document {
  const document = documents.find((each) => each.name === name)
  if (!document) throw new Error(`${name} is not a help page`)
  return document
}
