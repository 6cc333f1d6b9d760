import type { Host } from '#platform/http/host.ts'
import { escapeHtml, type BuiltPages } from './built-pages.ts'
import { compressText } from './compressed.ts'
import { operationHtml, type Listed, type Operation } from './operation.ts'
import { schemaHtml, type Schemas } from './schema.ts'

/** The OpenAPI document, as far as the reference shows it. */
export type ReferenceDocument = {
  info: { title: string; version: string; description: string }
  servers: [{ url: string; description: string }, ...{ url: string; description: string }[]]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Schemas; securitySchemes: Record<string, { description: string }> }
}

type Chapter = { name: string; url: string; operations: Listed[] }

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** Registers the API reference: a page of each group of operations, and their search. */
export function referenceRoutes(
  host: Host,
  { tags, document }: { tags: string[]; document: () => ReferenceDocument },
  { reference, policy, version }: Pick<BuiltPages, 'reference' | 'policy' | 'version'>,
): void {
  let listed: Chapter[] | undefined
  const chapters = () => (listed ??= tags.map((tag) => chapterOf(tag, document())))
  const pages = [
    { url: '/docs', title: 'API reference', main: () => overviewOf(document(), chapters()) },
    ...tags.map((tag, nth) => ({
      url: addressOf(tag),
      title: tag,
      main: () =>
        chapters()
          .slice(nth, nth + 1)
          .map((chapter) => chapterHtml(chapter, document()))
          .join(''),
    })),
  ]
  for (const { url, title, main } of pages) {
    const create = () => reference({ title: escapeHtml(title), rail: railOf(chapters(), url), main: main() })
    const page = compressText('text/html; charset=utf-8', create, version)
    for (const path of url === '/docs' ? [url, '/docs/'] : [url])
      host.route({
        method: 'GET',
        url: path,
        config: { security: 'none', cors: 'no origin', host: 'api', page: true },
        handler: (request, reply) => page.send(request, reply.header('content-security-policy', policy)),
      })
  }
  const index = compressText('application/json; charset=utf-8', () => JSON.stringify(searchIndexOf(chapters())))
  host.route({
    method: 'GET',
    url: '/docs/search.json',
    config: { security: 'none', cors: 'no origin' },
    handler: (request, reply) => index.send(request, reply),
  })
}

function addressOf(tag: string): string {
  return `/docs/${tag
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')
    .replace(/-$/, '')}`
}

function chapterOf(tag: string, { paths }: ReferenceDocument): Chapter {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Listed => ({ method, path, operation })),
  )
  const operations = all.filter(({ operation }) => operation.tags.includes(tag)).toSorted(compareInReadingOrder)
  return { name: tag, url: addressOf(tag), operations }
}

/** What belongs together is together, and what begins comes first: `…/start` before `…/finish`. */
function compareInReadingOrder(a: Listed, b: Listed): number {
  const [own, other] = [a, b].map(({ path }) => path.split('/').map(rankOf)) as [string[], string[]]
  for (let nth = 0; nth < Math.max(own.length, other.length); nth += 1) {
    const difference = (own[nth] ?? '').localeCompare(other[nth] ?? '', 'en')
    if (difference !== 0) return difference
  }
  return methods.indexOf(a.method) - methods.indexOf(b.method)
}

function rankOf(segment: string): string {
  const steps = ['start', 'finish', 'complete']
  return steps.includes(segment) ? `0${steps.indexOf(segment)}` : `1${segment}`
}

function railOf(chapters: Chapter[], current: string): string {
  const items = chapters.map(({ name, url, operations }) => {
    const isCurrent = url === current
    const link = `<a href="${url}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a>`
    const inside = isCurrent ? `<ul class="rail-operations">${operations.map(operationLink).join('')}</ul>` : ''
    return `<li>${link}${inside}</li>`
  })
  const overview = `<li><a href="/docs"${current === '/docs' ? ' aria-current="page"' : ''}>Overview</a></li>`
  return `<ul class="rail-list">${overview}${items.join('')}</ul>`
}

function operationLink({ operation: { operationId, summary = operationId } }: Listed): string {
  return `<li><a href="#${operationId}">${escapeHtml(titleOf(summary))}</a></li>`
}

/** Returns a summary without its conditions. */
function titleOf(summary: string): string {
  return summary.split(/[;:(]/, 1)[0]?.trim() ?? summary
}

function chapterHtml({ name, operations }: Chapter, { servers, components }: ReferenceDocument): string {
  const [apiHost] = servers
  const shown = operations.map((listed) => operationHtml(listed, apiHost, components.schemas))
  return [
    '<div class="api"><p class="crumbs"><a href="/docs">API reference</a></p>',
    `<h1>${escapeHtml(name)}</h1>`,
    '<details class="on-page-folded"><summary>Operations</summary>',
    `<ul>${operations.map(operationLink).join('')}</ul></details>`,
    ...shown,
    '</div>',
  ].join('')
}

/** Errors that every endpoint can respond with. */
const commonErrors: [number, string, string][] = [
  [400, 'invalid_request', 'The request is malformed. The sentence names the field.'],
  [401, 'unauthorized', 'No valid session or token.'],
  [403, 'reauthentication_required', 'The user must use their passkey again, because the last use is too old.'],
  [404, 'not_found', 'Nothing is there, or the caller may not see it.'],
  [405, 'method_not_allowed', 'The path has other methods. See the Allow header.'],
  [413, 'payload_too_large', 'The body is larger than 64 KiB.'],
  [415, 'unsupported_media_type', 'The body has another media type than documented.'],
  [421, 'misdirected_request', 'Another host serves this path. The sentence names it.'],
  [429, 'rate_limited', 'Too many requests. Retry after the seconds in Retry-After.'],
  [500, 'server_error', 'A fault of the service. Quote requestId when you report it.'],
  [503, 'temporarily_unavailable', 'Retry after the seconds in Retry-After.'],
]

function overviewOf({ info, servers, components, paths }: ReferenceDocument, chapters: Chapter[]): string {
  const hosts = Object.values(paths)
    .flatMap((methodsOfPath) => Object.values(methodsOfPath))
    .flatMap((each) => each.servers ?? [])
  const byUrl = new Map([...servers, ...hosts].map((server) => [server.url, server.description]))
  const schemes = Object.entries(components.securitySchemes)
  const events = Object.keys(components.schemas).filter((name) => name.endsWith('Event'))
  return [
    '<div class="api"><h1>API reference</h1>',
    `<p class="lead">Version ${escapeHtml(info.version)}. For programs: <a href="/openapi.json">OpenAPI 3.1</a>.</p>`,
    '<h2 id="hosts">Hosts</h2><dl class="facts">',
    ...[...byUrl].map(([url, name]) => `<div><dt>${name}</dt><dd><code>${escapeHtml(url)}</code></dd></div>`),
    '</dl><h2 id="authentication">Authentication</h2><dl class="facts">',
    ...schemes.map(([id, { description }]) => {
      return `<div id="${id}"><dt>${id.replaceAll('_', ' ')}</dt><dd>${escapeHtml(description)}</dd></div>`
    }),
    '</dl><h2 id="errors">Errors</h2>',
    '<p>An error has a code in <code>error</code> and a sentence in <code>error_description</code>. ',
    'Every response has an <code>X-Request-Id</code>.</p>',
    schemaHtml({ $ref: '#/components/schemas/Error' }, components.schemas),
    '<div class="scroll" role="region" tabindex="0" aria-label="Common errors"><table class="plain">',
    '<thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>',
    ...commonErrors.map(([status, code, meaning]) => {
      return `<tr><td>${status}</td><td><code>${code}</code></td><td>${meaning}</td></tr>`
    }),
    '</tbody></table></div>',
    '<h2 id="operations">Operations</h2>',
    ...chapters.map(({ name, url, operations }) => {
      const links = operations.map(({ method, operation: { operationId, summary = operationId } }) => {
        const label = `<span class="method ${method}">${method.toUpperCase()}</span>`
        return `<li>${label}<a href="${url}#${operationId}">${escapeHtml(titleOf(summary))}</a></li>`
      })
      const title = `<h3><a href="${url}">${escapeHtml(name)}</a></h3>`
      return `<section class="card stack">${title}<ul class="operations">${links.join('')}</ul></section>`
    }),
    events.length > 0 ? '<h2 id="events">Bodies of webhooks</h2>' : '',
    ...events.map(
      (name) => `<h3><code>${name}</code></h3>${schemaHtml(components.schemas[name], components.schemas, [name])}`,
    ),
    '</div>',
  ].join('')
}

/** Builds the index that the search of the pages reads (`web/pages/help/search.ts`). */
function searchIndexOf(chapters: Chapter[]) {
  return {
    pages: chapters.map(({ name, url }) => [url, name]),
    passages: chapters.flatMap(({ operations }, page) =>
      operations.map(({ method, path, operation: { operationId, summary = operationId, parameters } }) => {
        const names = parameters.map(({ name }) => name).join(' ')
        return [page, operationId, summary, `${method.toUpperCase()} ${path} ${operationId} ${names}`.trim()]
      }),
    ),
  }
}
