import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Brand, PageName, PageView, Site } from '@countersign/protocol/pages'
import serveStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import { Type, type Static } from 'typebox'
import { ConfigError, type Config } from '#platform/config/config.ts'
import { parse } from '#platform/schema.ts'
import { brandStylePath, mountBrandStyles } from './brand-style.ts'
import type { Host } from './host.ts'
import { openerKept, pagePolicy } from './security-headers.ts'

const PageFiles = Type.Object({
  script: Type.String(),
  imports: Type.Array(Type.String()),
  styles: Type.Array(Type.String()),
  fonts: Type.Array(Type.String()),
})
type PageFiles = Static<typeof PageFiles>
const Manifest = Type.Record(Type.String(), PageFiles)

const manifestFile = new URL('../../../web/dist/manifest.json', import.meta.url)
const assetsFolder = new URL('../../../web/dist/assets/', import.meta.url)
const helpFolder = new URL('../../../web/dist/help/', import.meta.url)

/** Name that contains the digest of its content, in another build possibly another one. */
const versioned = /-[\w-]{8}\.\w+$/
/** Time for which a name that is not in the folder is known to be missing. */
const listedMilliseconds = 1000

/** The scripts, styles and images of the pages. */
export type PageAssets = {
  /** Returns the paths of what a page loads first. */
  filesOf: (page: PageName) => PageFiles | undefined
  /** Registers the files of all pages on a host, under `/assets/`. */
  mountOn: (host: Host) => void
  /** Nonce of the style elements that scripts of the pages insert. Without one, none are permitted. */
  styleNonce?: string
  /** Reads a file of the help pages, as `web/help` builds them. Throws `ConfigError` if it is missing. */
  readHelp: (file: string) => Promise<string>
}

export type Pages = {
  /** Sends a page: the shell with its view as inert JSON, so that it renders without further requests. */
  show: (reply: FastifyReply, view: PageView) => FastifyReply
  assets: PageAssets
}

type Settings = Pick<
  Config,
  | 'baseUrl'
  | 'authUrl'
  | 'businessUrl'
  | 'relyingPartyId'
  | 'demo'
  | 'developerPortal'
  | 'mail'
  | 'brand'
  | 'registration'
>

/** Returns the settings of the service that every page needs. What operators change is read when a page is shown. */
export function siteSettings(settings: Settings): Site {
  const { baseUrl, authUrl, businessUrl, relyingPartyId, demo, developerPortal, mail } = settings
  return {
    baseUrl: baseUrl.origin,
    authUrl: authUrl.origin,
    businessUrl: businessUrl.origin,
    relyingPartyId,
    demo,
    get registration() {
      return settings.registration
    },
    developers: developerPortal,
    mail: mail.by !== 'nothing',
    devMail: mail.by === 'log',
    get brand() {
      return brandOf(settings.brand, baseUrl)
    },
  }
}

function brandOf({ name, logo, accent, links }: Config['brand'], baseUrl: URL): Brand {
  return {
    name,
    ...(logo && { logoUrl: `${baseUrl.origin}/pictures/${logo.pictureId}` }),
    ...(accent && { accent: accent.hex }),
    links,
  }
}

type Hosts = Pick<Config, 'baseUrl' | 'businessUrl'>

/** Loads the build output of `web/`. Throws `ConfigError` if it is missing. */
export async function loadPages(config: Hosts): Promise<Pages> {
  const manifest = await readManifest()
  const mountOn = await findBuiltAssets(fileURLToPath(assetsFolder))
  return createPages(config, { filesOf: (page) => manifest[page], mountOn, readHelp: readBuiltHelp })
}

export function createPages(config: Hosts, assets: PageAssets): Pages {
  const { styleNonce } = assets
  return {
    assets: {
      ...assets,
      mountOn(host) {
        assets.mountOn(host)
        mountBrandStyles(host)
      },
    },
    show(reply, view) {
      const files = assets.filesOf(view.page)
      if (!files) throw new Error(`page ${view.page} is not built`)
      const framedBy = view.page === 'sign' ? view.framedBy : []
      const asks = hostsRequestedBy(view, config)
      const pictures = config.baseUrl
      const policy = pagePolicy({ asks, pictures, postsForms: postsForms(view), framedBy, styleNonce })
      reply.header('content-security-policy', policy)
      // This header cannot name origins, so the policy above applies.
      if (framedBy.length > 0) reply.removeHeader('x-frame-options')
      return reply
        .headers(openerPolicies[view.page] ?? {})
        .type('text/html; charset=utf-8')
        .send(shell(withStyle(files, brandStylePath(view.site.brand.accent)), view, styleNonce))
    },
  }
}

/** Adds the color of the operator after the colors that it replaces. */
function withStyle(files: PageFiles, path: string | undefined): PageFiles {
  return path === undefined ? files : { ...files, styles: [...files.styles, path] }
}

/**
 * Returns what registers the files of a folder under `/assets/`. The names are kept, because the library would read the
 * whole folder for each request, to compare how a name is spelled.
 */
export async function findBuiltAssets(root: string): Promise<(host: Host) => void> {
  const contains = await listNames(root)
  return (host) => {
    host.register(serveStatic, { root, serve: false, cacheControl: false, preCompressed: true })
    host.route({
      method: 'GET',
      url: '/assets/*',
      schema: { params: Type.Object({ '*': Type.String() }) },
      config: { security: 'none', cors: 'no origin', host: 'every host' },
      async handler({ params: { '*': name } }, reply) {
        if (!(await contains(name))) return reply.callNotFound()
        reply.header(
          'cache-control',
          versioned.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
        )
        return reply.sendFile(name)
      },
    })
  }
}

/**
 * Lists a folder, and returns what checks whether it contains a file. During an upgrade an operator adds the files of
 * the other version: for an unknown name the folder is listed again, at most once a second.
 */
async function listNames(root: string): Promise<(name: string) => Promise<boolean>> {
  let names = await readNames(root)
  let listed = { at: performance.now(), done: Promise.resolve() }
  const list = async () => void (names = await readNames(root))
  return async (name) => {
    if (names.has(name) || !versioned.test(name)) return names.has(name)
    if (performance.now() - listed.at >= listedMilliseconds) listed = { at: performance.now(), done: list() }
    await listed.done
    return names.has(name)
  }
}

/** Reads the names of the files, without those that only replace them for browsers that accept compressed ones. */
async function readNames(root: string): Promise<Set<string>> {
  return new Set((await readdir(root)).filter((name) => !/\.(?:br|gz)$/.test(name)))
}

/**
 * An app opens a popup to sign in or to request a signature, and waits for a message: from the page to which a sign-in
 * returns, or from the signing page. A stricter policy on any page in between would sever the two windows for good. The
 * opener only learns whether the popup is still open and how many pages it has passed. Like any opener, it could
 * navigate the popup away; the address bar shows that, and passkeys work nowhere else.
 */
const openerPolicies: Partial<Record<PageName, Record<string, string>>> = {
  sign: openerKept,
  // The pages that a browser can pass on its way from an app and back. `entryRoutes` decides about further ones.
  signin: openerKept,
  return: openerKept,
  sso: openerKept,
  error: openerKept,
  // It is such an app: it opens the signing page and waits for its message.
  playground: { 'cross-origin-opener-policy': 'same-origin-allow-popups' },
}

/** Redirects a browser on its way from an app and back. Browsers apply the opener policy of a redirect too. */
export function redirectVisitor(reply: FastifyReply, location: string): FastifyReply {
  return reply.headers(openerKept).redirect(location, 303)
}

/** Returns the hosts besides its own that a page may call. Organization data is on the business host. */
function hostsRequestedBy({ page }: PageView, { baseUrl, businessUrl }: Hosts): URL[] {
  return page === 'organization-keys' || page === 'act' ? [baseUrl, businessUrl] : [baseUrl]
}

/** Checks whether the page may post a response to an app. */
function postsForms(view: PageView): boolean {
  return (view.page === 'return' && !('organization' in view)) || (view.page === 'signin' && view.formPost)
}

async function readManifest(): Promise<Partial<Record<PageName, PageFiles>>> {
  return parse(Manifest, JSON.parse(await readBuilt(manifestFile)))
}

function readBuiltHelp(file: string): Promise<string> {
  return readBuilt(new URL(file, helpFolder))
}

async function readBuilt(file: URL): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    throw new ConfigError('Pages are not built. Run npm ci or node web/build.ts.')
  }
}

function shell({ script, imports, styles, fonts }: PageFiles, view: PageView, styleNonce?: string): string {
  const nonce = styleNonce === undefined ? '' : `\n<meta property="csp-nonce" nonce="${styleNonce}">`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">${nonce}
<title>${escapeText(view.site.brand.name)}</title>
<link rel="icon" type="image/svg+xml" href="/assets/icon.svg">
${fonts.map((href) => `<link rel="preload" href="${href}" as="font" type="font/woff2" crossorigin>`).join('\n')}
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
${imports.map((href) => `<link rel="modulepreload" href="${href}">`).join('\n')}
<script type="module" src="${script}"></script>
</head>
<body>
<noscript>This page makes and checks your passkey in the browser. Please allow JavaScript.</noscript>
<div id="page"></div>
<script type="application/json" id="view">${inertJson(view)}</script>
</body>
</html>
`
}

/** Escapes text for the content of an element. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Serializes JSON that cannot close its HTML element. */
function inertJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
