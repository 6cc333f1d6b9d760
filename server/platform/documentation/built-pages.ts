import { Type } from 'typebox'
import type { Config } from '#platform/config/config.ts'
import { brandStylePath } from '#platform/http/brand-style.ts'
import type { Pages } from '#platform/http/page.ts'
import { pagePolicy } from '#platform/http/security-headers.ts'
import { parse } from '#platform/schema.ts'

const PageList = Type.Array(Type.Object({ url: Type.String(), file: Type.String() }))

/** The help pages and the frame of the API reference, as `web/help` builds them. */
export type BuiltPages = {
  /** Help pages by URL. */
  pages: readonly { url: string; read: () => Promise<string> }[]
  /** Returns a page of the API reference. Its parts are HTML. */
  reference: (parts: ReferenceParts) => string
  /** Returns a text that changes when the brand in these pages does. */
  version: () => string
  /** Policy of these pages: their own script and styles, and the logo of the operator. */
  policy: string
}

export type ReferenceParts = { title: string; rail: string; main: string }

type Settings = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl' | 'brand'>
type Looks = Pick<Pages, 'assets'>

/** Loads the list of pages and the frame. Throws `ConfigError` if they are not built. */
export async function loadBuiltPages(config: Settings, looks: Looks): Promise<BuiltPages> {
  const { readHelp, styleNonce } = looks.assets
  const [list, frame, mark] = await Promise.all(['pages.json', 'reference.html', 'mark.svg'].map(readHelp))
  const fill = fillerFor(config, looks, mark ?? '')
  return {
    pages: parse(PageList, JSON.parse(list ?? '')).map(({ url, file }) => ({
      url,
      read: async () => fill(await readHelp(file)),
    })),
    reference: ({ title, rail, main }) => replaceAll(fill(frame ?? ''), { TITLE: title, RAIL: rail, MAIN: main }),
    version: () => `${config.brand.name} ${config.brand.logo?.pictureId ?? ''} ${config.brand.accent?.hex ?? ''}`,
    policy: pagePolicy({ asks: [], pictures: config.baseUrl, postsForms: false, framedBy: [], styleNonce }),
  }
}

/** Returns the function that writes the settings of this service into a page. Origins need no escaping. */
function fillerFor(settings: Settings, { assets: { styleNonce } }: Looks, mark: string): (page: string) => string {
  const { baseUrl, authUrl, businessUrl } = settings
  const headOf = (accent: Config['brand']['accent']) => {
    const style = brandStylePath(accent?.hex)
    return [
      style === undefined ? '' : `<link rel="stylesheet" href="${style}">`,
      styleNonce === undefined ? '' : `<meta property="csp-nonce" nonce="${styleNonce}">`,
    ].join('')
  }
  const values = ({ name, logo, accent }: Config['brand']) => ({
    BRAND: escapeHtml(name),
    HEAD: headOf(accent),
    LOGO: logo ? `<img class="mark" src="${baseUrl.origin}/pictures/${logo.pictureId}" alt="">` : mark,
    BASE_URL: baseUrl.origin,
    AUTH_URL: authUrl.origin,
    BUSINESS_URL: businessUrl.origin,
  })
  return (page) => replaceAll(page, values(settings.brand))
}

function replaceAll(page: string, values: Record<string, string>): string {
  return page.replaceAll(/%%([A-Z_]+)%%/g, (slot, name: string) => values[name] ?? slot)
}

/** Escapes text for the content of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
