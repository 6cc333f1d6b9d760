import { readFile } from 'node:fs/promises'
import type { PageName, PageView, Site } from '@countersign/protocol/pages'
import type { FastifyReply } from 'fastify'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { ConfigError, type Config } from '#platform/config/config.ts'
import { pagePolicy } from './security-headers.ts'

const BuiltPage = Type.Object({
  script: Type.String(),
  imports: Type.Array(Type.String()),
  styles: Type.Array(Type.String()),
})
type BuiltPage = Static<typeof BuiltPage>
const Manifest = Type.Record(Type.String(), BuiltPage)

const manifestFile = new URL('../../../web/dist/manifest.json', import.meta.url)

/** Where the built scripts, styles and images of the pages lie, under `/assets/`. */
export const assetsFolder = new URL('../../../web/dist/assets/', import.meta.url)

/** Shows a page: the built shell with its view as inert JSON, so that it is drawn without asking anything more. */
export type Pages = { show: (reply: FastifyReply, view: PageView) => FastifyReply }

type Settings = Pick<
  Config,
  'baseUrl' | 'authUrl' | 'businessUrl' | 'relyingPartyId' | 'demo' | 'developerPortal' | 'mail'
>

/** What every page knows of the service that it belongs to. */
export function siteOf(settings: Settings): Site {
  const { baseUrl, authUrl, businessUrl, relyingPartyId, demo, developerPortal, mail } = settings
  return {
    baseUrl: baseUrl.origin,
    authUrl: authUrl.origin,
    businessUrl: businessUrl.origin,
    relyingPartyId,
    demo,
    developers: developerPortal,
    mail: mail.by !== 'nothing',
  }
}

type Hosts = Pick<Config, 'baseUrl' | 'businessUrl'>

/** Reads what the build of `web/` made. Throws `ConfigError` where it was not built. */
export async function openPages(config: Hosts): Promise<Pages> {
  const manifest = await readManifest()
  return {
    show(reply, view) {
      const page = manifest[view.page]
      if (!page) throw new Error(`the page ${view.page} was not built`)
      const framedBy = view.page === 'sign' ? view.framedBy : []
      const policy = pagePolicy({ asks: hostsAskedBy(view, config), postsForms: postsForms(view), framedBy })
      reply.header('content-security-policy', policy)
      // It knows no origins, only all or nobody; the policy above says who.
      if (framedBy.length > 0) reply.removeHeader('x-frame-options')
      const openerPolicy = openerPolicies[view.page]
      if (openerPolicy) reply.header('cross-origin-opener-policy', openerPolicy)
      return reply.type('text/html; charset=utf-8').send(shell(page, view))
    },
  }
}

/**
 * Whoever opens the page to sign as a popup awaits its message: an app, or of an act the pages of organizations. Any
 * stricter policy severs the two, and they would wait in vain. By that their window learns no more than whether ours is
 * still open. It could lead ours elsewhere, as whoever opens a window can; the address bar says where, and a passkey
 * works nowhere else.
 */
const openerPolicies: Partial<Record<PageName, string>> = {
  sign: 'unsafe-none',
  act: 'unsafe-none',
  business: 'same-origin-allow-popups',
}

/** Which hosts beside its own a page may speak to. What is about organizations is asked where they are. */
function hostsAskedBy({ page }: PageView, { baseUrl, businessUrl }: Hosts): URL[] {
  return page === 'organization-keys' || page === 'act' ? [baseUrl, businessUrl] : [baseUrl]
}

/** Whether the page may have an answer to post to an app. */
function postsForms(view: PageView): boolean {
  return (view.page === 'return' && !('organization' in view)) || (view.page === 'signin' && view.formPost)
}

async function readManifest(): Promise<Partial<Record<PageName, BuiltPage>>> {
  try {
    return Value.Parse(Manifest, JSON.parse(await readFile(manifestFile, 'utf8')))
  } catch {
    throw new ConfigError('The pages are not built: run npm ci, or node web/build.ts.')
  }
}

function shell({ script, imports, styles }: BuiltPage, view: PageView): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Countersign</title>
<link rel="icon" type="image/svg+xml" href="/assets/icon.svg">
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

/** JSON that can't end the element that it stands in. */
function inertJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
